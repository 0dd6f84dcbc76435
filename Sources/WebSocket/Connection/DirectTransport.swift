package import NIOCore

/// A way to the peer that does not lead through the pipeline, for bytes that nothing below would change.
package protocol DirectTransport {
    /// Takes as many of the bytes as it can at once, without waiting.
    ///
    /// - Returns: how many it took; fewer than all when it is full or broken. The caller then takes the pipeline's way,
    ///   which finds out why.
    func send(_ bytes: ByteBuffer) -> Int

    /// Takes as many bytes of the buffers as it can at once, in order.
    func send(_ buffers: [ByteBuffer]) -> Int

    /// Notes that bytes may wait in front from now on, or that the connection is over: whoever writes to the peer past
    /// `WebSocketHandler` (``WebSocketHandler/letPast()``) stops doing so.
    func interrupted()
}

extension DirectTransport {
    package func interrupted() {}
}
