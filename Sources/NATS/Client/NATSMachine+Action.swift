package import NIOCore
package import TLS

extension NATSMachine {
    /// The work of one event; a method returns it in order.
    package enum Action: Sendable, Equatable {
        /// Connect by TCP within this time; ``opened(as:now:)`` or ``ended(_:now:chance:)`` must follow.
        case connect(ServerAddress, within: TimeAmount)
        /// Begin TLS as a client; ``secured(now:)`` or ``ended(_:now:chance:)`` must follow.
        case startTLS(TLSPeerName)
        /// Write and flush; ``bytesLeft(_:)`` must follow when they have left.
        case send(ByteBuffer)
        case deliver(NATSMessage, subscription: UInt64)
        case answer(UInt64, Result<NATSMessage, RequestFailure>)
        /// The end of a ``flush()``: whether the server has processed all that was sent before.
        case flushed(UInt64, Bool)
        case report(Report)
        /// Close the connection, or give up the attempt. No event of it may follow.
        case close
    }

    /// What a client says about itself.
    package enum Report: Sendable, Equatable {
        case connecting(ServerAddress)
        case connected(ServerAddress, ServerInformation)
        /// An attempt or a connection has ended; the next attempt comes after this wait.
        case waiting(NATSEnding, TimeAmount)
        /// The server refused something, and the connection goes on.
        case refused(ServerRefusal)
        /// A message was left out, because its publisher has written headers that cannot be read; so were as many
        /// others that are not reported.
        case dropped(subject: String, others: Int)
        /// A password or token is about to be sent to this server without TLS, and anyone on the way can read it. It is
        /// reported once for a server.
        case exposed(ServerAddress)
        /// The servers that are known have changed: a server has named other members of its cluster.
        case servers([ServerAddress])
        /// The server is about to stop. The client moves if it knows another one.
        case leaving(ServerAddress)
        /// The client has ended, for good unless it is started again.
        case stopped(NATSEnding)
    }
}
