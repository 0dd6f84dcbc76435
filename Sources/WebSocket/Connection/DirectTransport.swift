package import NIOCore

/// A path to the peer that bypasses the pipeline, for bytes that no handler below would change.
package protocol DirectTransport {
    /// Sends as many of the bytes as it can without waiting.
    ///
    /// - Returns: the number of bytes sent. It is less than all when the transport is full or broken. The caller then
    ///   sends the rest through the pipeline, which finds the cause.
    func send(_ bytes: ByteBuffer) -> Int

    /// Sends as many bytes of the buffers as it can without waiting, in order; returns their number.
    func send(_ buffers: [ByteBuffer]) -> Int

    /// Reports that earlier bytes may be waiting from now on, or that the connection has ended. A writer that bypasses
    /// `WebSocketHandler` (``WebSocketHandler/allowBypass()``) must stop.
    func interrupted()
}

extension DirectTransport {
    package func interrupted() {}
}
