package import NIOCore

/// The settings of a client.
package struct NATSSettings: Sendable, Equatable {
    /// When TLS is used.
    package enum Encryption: Sendable {
        /// When the server requires it, or the address demands it. Without such an address, an attacker on the path can
        /// prevent TLS and read a password or token.
        case asServerRequires
        /// Always. A server that does not offer it is left.
        case required
        /// Before the server's first byte (`handshake_first` of nats-server 2.10.4 and later).
        case first
    }

    package var servers: [ServerAddress]
    package var encryption = Encryption.asServerRequires
    /// The client's name in the server's monitoring.
    package var name = "tickertape"
    package var version = ""
    /// How the subjects of the answers to this client begin. Permissions can keep other users from them.
    package var inboxPrefix = "_INBOX"
    /// Whether the client also goes to the servers that a server names as members of its cluster.
    package var learnsServers = true
    /// Whether the server sends this client's own messages back to its own subscriptions.
    package var echoes = true
    /// The limit from an attempt's begin to a TCP connection.
    package var connectTimeout: TimeAmount = .seconds(5)
    /// The limit from there to the server's PONG, which proves that it has accepted this client.
    package var handshakeTimeout: TimeAmount = .seconds(5)
    /// The same two limits for a server that another one has named.
    package var learnedTimeout: TimeAmount = .seconds(2)
    package var pingInterval: TimeAmount = .seconds(20)
    /// The pings without an answer after which the connection is given up.
    package var maximumPings = 2
    /// The longest wait before the next server of a round is tried; the wait is random.
    package var jitter: TimeAmount = .milliseconds(100)
    /// The longest wait after the first round that has failed; it doubles with each. The wait is random.
    package var firstWait: TimeAmount = .milliseconds(500)
    package var longestWait: TimeAmount = .seconds(10)
    /// The shortest wait after a round.
    package var shortestWait: TimeAmount = .milliseconds(100)
    /// How long a connection must last to count as good.
    package var settled: TimeAmount = .seconds(10)
    /// The time within which clients leave a server in lame duck mode, each at a random moment.
    package var leavingWithin: TimeAmount = .seconds(5)
    /// The limit of ``NATSMachine/drain(now:)``, and of what a move to another server waits for.
    package var drainTimeout: TimeAmount = .seconds(5)
    /// The most memory for what waits for a server that does not read, in bytes.
    package var maximumWaitingBytes = 8 << 20
    /// The most requests without an answer, and the most flushes.
    package var maximumRequests = 1_024
    /// The longest control line that the server accepts, in bytes (`max_control_line`).
    package var maximumControlLine = 4_096
    package var limits = ServerOperationParser.Limits()

    package init(servers: [ServerAddress]) { self.servers = servers }

    /// The servers to which an identity sends a password or a token that can be read on the way, unless the server asks
    /// for TLS: to warn of before the start.
    package func exposed(by identity: NATSIdentity) -> [ServerAddress] {
        guard identity.sendsSecret, self.encryption == .asServerRequires else { return [] }
        return self.servers.filter { !$0.demandsTLS && !$0.isLoopback }
    }
}
