package import HTTP
package import Market
package import NIOCore
package import NIOHTTP1
package import WebSocket
package import Wire

/// The protocol of one upstream, as its mock server speaks it: what differs between Finnhub and the venues.
package protocol MockProtocol: Sendable {
    /// The dialect of its frames.
    var dialect: FrameDialect { get }
    /// The upstream's limit of connections; `nil` without one.
    var attemptLimit: AttemptLimit? { get }

    /// Returns whether a request's path is one of the upstream's, where a server speaks several protocols.
    func owns(_ head: HTTPRequestHead) -> Bool

    /// Returns the refusal of a WebSocket that the request's path or key demands, or `nil`.
    func refusal(of head: HTTPRequestHead) -> HTTPAnswer?

    /// Returns the key of a request; `nil` without one, and for an upstream that has no keys.
    func key(in head: HTTPRequestHead) -> String?

    /// Makes an error of the upstream's HTTP side, in its own form.
    func error(_ status: HTTPResponseStatus, _ text: String) -> HTTPAnswer

    /// Returns the body that the upstream sends with a status; empty where none is known.
    func body(of status: Int) -> String

    /// Returns the refusal of a request over HTTP because of its method or headers, or `nil`.
    func objection(to head: HTTPRequestHead) -> HTTPAnswer?

    /// Answers a request for something other than a WebSocket or trades that ``objection(to:)`` does not refuse.
    ///
    /// - Parameter symbols: all symbols of the material, as the tape names them.
    func answer(_ head: HTTPRequestHead, symbols: [String]) -> HTTPAnswer

    /// Changes the settings of a WebSocket that has pings.
    func adjust(_ settings: inout WebSocketSettings)

    func makeSession(_ opening: MockSessionOpening) -> any MockSession

    // MARK: Frames

    /// Returns the tape's name of a symbol that may have the upstream's own.
    func symbol(_ name: String) -> String

    /// The most neighbouring trades of one symbol and one moment that a simulated market joins in a frame; `nil` collects
    /// the trades of all symbols as Finnhub does.
    var tradesPerFrame: Int? { get }

    /// Creates the frames of some trades, in their order.
    func encode(_ trades: ArraySlice<Trade>, symbols: SymbolTable) -> [ByteBuffer]

    /// Returns a frame with trades reduced to some of them; `nil` if nothing is left.
    ///
    /// - Parameter kept: the trades that stay, a part of the frame's.
    func cut(_ frame: ByteBuffer, to kept: [Trade], symbols: SymbolTable) -> ByteBuffer?

    /// Creates an error message of the WebSocket.
    func errorMessage(_ text: String) -> ByteBuffer

    /// Creates the announcement of the end of a connection; `nil` for an upstream that sends none.
    ///
    /// - Parameter at: ns since 1970.
    func announcement(at: Int64) -> ByteBuffer?
}

extension MockProtocol {
    package func key(in head: HTTPRequestHead) -> String? { nil }

    package func objection(to head: HTTPRequestHead) -> HTTPAnswer? {
        head.method == .GET ? nil : self.error(.methodNotAllowed, "use GET")
    }

    package func adjust(_ settings: inout WebSocketSettings) {}
    package func symbol(_ name: String) -> String { name }
    package func announcement(at: Int64) -> ByteBuffer? { nil }

    package func cut(_ frame: ByteBuffer, to kept: [Trade], symbols: SymbolTable) -> ByteBuffer? {
        self.encode(kept[...], symbols: symbols).first
    }
}
