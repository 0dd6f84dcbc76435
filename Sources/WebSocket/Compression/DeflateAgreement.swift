/// The result of the negotiation of compressed messages (RFC 7692, 7.1).
package struct DeflateAgreement: Sendable, Hashable {
    /// The parameters of one direction's compressor.
    package struct Direction: Sendable, Hashable {
        /// The binary logarithm of the window's size in bytes, 8 to 15.
        package var windowBits: Int
        /// Whether a message may refer to earlier messages ("context takeover").
        package var keepsContext: Bool

        package init(windowBits: Int = 15, keepsContext: Bool = true) {
            self.windowBits = windowBits
            self.keepsContext = keepsContext
        }

        /// Whether this side can compress with these parameters. zlib has no window of 256 bytes. A side that has
        /// agreed to one sends its messages uncompressed, which is always allowed (RFC 7692, 6).
        package var isPossible: Bool { self.windowBits >= 9 }
    }

    /// The parameters of the server's messages.
    package var fromServer: Direction
    /// The parameters of the client's messages.
    package var fromClient: Direction

    package init(fromServer: Direction, fromClient: Direction) {
        self.fromServer = fromServer
        self.fromClient = fromClient
    }

    /// Returns the parameters of this side's compressor.
    func outgoing(of role: WebSocketRole) -> Direction { role == .server ? self.fromServer : self.fromClient }

    /// Returns the parameters of the peer's compressor.
    func incoming(of role: WebSocketRole) -> Direction { role == .server ? self.fromClient : self.fromServer }
}

/// The preferences of one side for compressed messages.
package struct DeflatePolicy: Sendable, Equatable {
    /// The best parameters for this side's compressor. Its window has at least 9 bits.
    package var outgoing = DeflateAgreement.Direction()
    /// The best parameters for the peer's compressor. A client that does not accept a limit of its window (RFC 7692,
    /// 7.1.2.2) may use 15 bits.
    package var incoming = DeflateAgreement.Direction()
    /// The largest ratio of a message's size to its compressed size, for messages of more than 8 KiB. Deflate reaches
    /// 1,032, and inflating such a message costs far more than sending it. `nil` sets no limit, for peers whose
    /// messages refer to earlier ones and legitimately reach such ratios.
    package var maximumRatio: Int?

    package init() {}

    /// A policy in which no message refers to an earlier one. A message for many clients is compressed once for all of
    /// them, and an idle connection keeps no window.
    package static var shared: DeflatePolicy {
        var policy = DeflatePolicy()
        policy.outgoing.keepsContext = false
        policy.incoming.keepsContext = false
        policy.maximumRatio = 100
        return policy
    }
}
