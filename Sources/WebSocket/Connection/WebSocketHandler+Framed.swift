package import NIOCore

// The way of bytes that already are whole frames, by plain calls on the loop: for fan-out.
extension WebSocketHandler {
    /// Writes bytes that already are whole frames, like `WebSocketOutput.framed` but without the way through the
    /// pipeline's upper part.
    package func writeFramed(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>? = nil) {
        guard self.closing.isOpen else {
            promise?.fail(WebSocketWriteError.closing)
            return
        }
        self.door.writeFrames(bytes, promise: promise)
    }

    /// Sends what was written since the last flush, and returns whether bytes are left that wait in the channel.
    package func flushFramed() -> Bool { self.door.flushFrames() }

    /// The bytes that wait in the channel. Costs next to nothing as long as none do and there is a direct transport.
    package var waitingBytes: Int { self.door.waitingBytes }

    /// Lets framed bytes go past the channel from now on, as long as nothing waits in it. Only where nothing below this
    /// handler would change bytes on their way out: never over TLS.
    package func sendDirectly(through transport: any DirectTransport) { self.door.use(transport) }

    /// Asks whether whole frames may go to the peer past this handler, straight to the socket of the direct transport. They
    /// may until that is told ``DirectTransport/interrupted()``.
    package func letPast() -> Bool { self.closing.isOpen && self.door.letPast() }

    /// Sends the rest of frames whose first bytes have gone past this handler, and returns whether bytes are left that wait
    /// in the channel.
    package func writeRest(of bytes: ByteBuffer, behind sent: Int) -> Bool {
        self.door.writeRest(of: bytes, behind: sent)
    }
}
