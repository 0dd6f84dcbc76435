package import NIOCore

// The path of bytes that are complete frames already, by plain calls on the loop, for fan-out.
extension WebSocketHandler {
    /// Writes bytes that are complete frames, like `WebSocketOutput.framed`, but without the upper part of the
    /// pipeline.
    package func writeFramed(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>? = nil) {
        guard self.closing.isOpen else {
            promise?.fail(WebSocketWriteError.closing)
            return
        }
        self.framedOutput.writeFrames(bytes, promise: promise)
    }

    /// Sends the frames written since the last flush, and returns whether bytes wait in the channel.
    package func flushFramed() -> Bool { self.framedOutput.flushFrames() }

    /// The bytes that wait in the channel. Cheap while none wait and there is a direct transport.
    package var waitingBytes: Int { self.framedOutput.waitingBytes }

    /// Lets framed bytes bypass the channel from now on while nothing waits in it. Allowed only where no handler below
    /// this one changes outbound bytes: never over TLS.
    package func sendDirectly(through transport: any DirectTransport) { self.framedOutput.use(transport) }

    /// Allows complete frames past this handler, straight to the socket of the direct transport, until the transport
    /// receives ``DirectTransport/interrupted()``. Returns whether it is allowed.
    package func allowBypass() -> Bool { self.closing.isOpen && self.framedOutput.allowBypass() }

    /// Writes the rest of frames whose first bytes bypassed this handler, and returns whether bytes wait in the
    /// channel.
    package func writeRest(of bytes: ByteBuffer, behind sent: Int) -> Bool {
        self.framedOutput.writeRest(of: bytes, behind: sent)
    }
}
