import Ingest
import NIOCore
import Wire

/// The protocol of a service on one connection, as a ``FeedHandler`` uses it: how frames are read, and how requests
/// are written.
protocol ConnectionDialect: AnyObject {
    /// The time without a request after which a message keeps the connection open, ns; `nil` if the service needs none.
    var keepaliveInterval: Int64? { get }

    /// Writes the message that keeps the connection open.
    func keepalive() -> ByteBuffer

    /// Takes one text frame of the current read, made at `now` (monotonic ns), onto the tape.
    ///
    /// - Returns: what the frame says besides trades, if the client must know it.
    func take(_ frame: ByteBuffer, into input: FeedInput, now: Int64) -> FeedEvent?

    /// Writes the requests for changes, in order; `send` takes the changes that one message requests, and its text.
    func requests(for changes: [SubscriptionChange], send: ([SubscriptionChange], ByteBuffer) -> Void)

    /// Reads one text frame without taking it: the ids of its trades, by symbol, and what it says besides trades. Of a
    /// service whose trades have no ids, ``FeedEvent/trades`` says that there are some.
    func survey(_ frame: ByteBuffer) -> (ids: [FrameIDs], event: FeedEvent?)

    /// Returns the payload of a ping or pong for the readers, copied, so that it does not keep the buffer of its read
    /// alive.
    func safe(_ payload: ByteBuffer) -> ByteBuffer
}

extension ConnectionDialect {
    var keepaliveInterval: Int64? { nil }

    func keepalive() -> ByteBuffer { preconditionFailure("a protocol without a keepalive") }

    /// Finds nothing, for a service that is given no second connection.
    func survey(_ frame: ByteBuffer) -> (ids: [FrameIDs], event: FeedEvent?) { ([], nil) }

    func safe(_ payload: ByteBuffer) -> ByteBuffer {
        payload.readableBytes > 0 ? ByteBuffer(bytes: payload.readableBytesView) : ByteBuffer()
    }
}

/// What a frame says besides trades.
enum FeedEvent {
    /// An error message of the service; with the refused symbol if it is about one.
    case error(String, SymbolRefusal?)
    /// A heartbeat of a symbol, with the id of its newest trade if the service knows it.
    case newest(UInt64?, symbol: String)
    /// Whether the service sends a sign of life about every second from now on.
    case heartbeats(areExpected: Bool)
    /// The service is about to close the connection.
    case closing
    /// What the service says of itself.
    case service(VenueServiceState)
    /// Trades without ids; only of ``ConnectionDialect/survey(_:)``.
    case trades
}
