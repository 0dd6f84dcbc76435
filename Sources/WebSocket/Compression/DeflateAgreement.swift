/// What both sides have agreed on for compressed messages (RFC 7692, 7.1).
package struct DeflateAgreement: Sendable, Hashable {
    /// How one side compresses.
    package struct Direction: Sendable, Hashable {
        /// The binary logarithm of the window's size in bytes, 8 to 15.
        package var windowBits: Int
        /// Whether a message may refer to earlier ones ("context takeover").
        package var keepsContext: Bool

        package init(windowBits: Int = 15, keepsContext: Bool = true) {
            self.windowBits = windowBits
            self.keepsContext = keepsContext
        }

        /// Whether messages can be compressed this way here. zlib makes no window of 256 bytes; who has agreed to one sends
        /// its messages plain, which is always allowed (RFC 7692, 6).
        package var isPossible: Bool { self.windowBits >= 9 }
    }

    /// What the server sends.
    package var fromServer: Direction
    /// What the client sends.
    package var fromClient: Direction

    package init(fromServer: Direction, fromClient: Direction) {
        self.fromServer = fromServer
        self.fromClient = fromClient
    }

    /// How this side compresses.
    func outgoing(of role: WebSocketRole) -> Direction { role == .server ? self.fromServer : self.fromClient }

    /// How the peer compresses.
    func incoming(of role: WebSocketRole) -> Direction { role == .server ? self.fromClient : self.fromServer }
}

/// What one side wants of compressed messages.
package struct DeflatePolicy: Sendable, Equatable {
    /// How this side would compress, at best. At least 9 bits.
    package var outgoing = DeflateAgreement.Direction()
    /// How the peer may compress, at best. A peer that cannot be told (RFC 7692, 7.1.2.2) may use 15 bits.
    package var incoming = DeflateAgreement.Direction()
    /// How many times larger than its compressed form a message may be, once it has more than 8 KiB. Deflate reaches
    /// 1,032, and inflating that costs far more than sending it. Nil is no limit, for peers whose messages refer to earlier
    /// ones and rightly reach such figures.
    package var maximumRatio: Int?

    package init() {}

    /// No message refers to an earlier one: what goes to many is compressed once for all of them, and an idle connection
    /// keeps no window.
    package static var shared: DeflatePolicy {
        var policy = DeflatePolicy()
        policy.outgoing.keepsContext = false
        policy.incoming.keepsContext = false
        policy.maximumRatio = 100
        return policy
    }
}
