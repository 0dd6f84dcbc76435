package import NIOCore

/// What a server sends: one operation of the client protocol.
package enum ServerOperation: Sendable, Equatable {
    case info(ServerInformation)
    /// `MSG` or `HMSG`, for the subscription with this number.
    case message(NATSMessage, subscription: UInt64)
    /// A message whose headers cannot be read. Its publisher has written them, so the server and the connection are
    /// sound.
    case unreadable(subject: String, subscription: UInt64)
    case ping
    case pong
    case ok
    case error(ServerRefusal)
}

/// A message as a subscription gets it.
package struct NATSMessage: Sendable, Equatable {
    package var subject: String
    /// Where an answer is expected; `nil` where none is.
    package var reply: String?
    package var headers: NATSHeaders
    /// A slice of the bytes as they were read; it keeps the whole read in memory.
    package var payload: ByteBuffer

    package init(subject: String, reply: String? = nil, headers: NATSHeaders = NATSHeaders(), payload: ByteBuffer) {
        self.subject = subject
        self.reply = reply
        self.headers = headers
        self.payload = payload
    }
}
