import HTTP
import Market
package import NIOHTTP1
import WebSocket
import Wire

/// The options in the URL and the headers of a new client of `/v1/stream`.
package struct StreamQuery: Equatable {
    /// The known parameters of the query; `token` is read by ``TokenGate``.
    private static let known: Set<String> = ["symbol", "symbols", "delivery", "every", "since", "overflow", "token"]

    /// The symbols to subscribe to at once: all if empty, none if `nil`.
    var symbols: [String]?
    /// The delivery of symbols whose request does not name one.
    var delivery: StreamDelivery?
    var since: TapePosition?
    var overflow: StreamOverflow?
    /// The negotiated subprotocol.
    var subprotocol: String?

    init() {}

    /// - Throws: ``HTTPRefusal`` for an invalid query or header.
    package init(_ head: HTTPRequestHead) throws(HTTPRefusal) {
        self.subprotocol = try Self.subprotocol(head.headers)
        let query = head.uri.firstIndex(of: "?").map { head.uri[head.uri.index(after: $0)...] } ?? ""
        var word: String?
        var milliseconds: Int?
        for pair in query.split(separator: "&") {
            guard let (name, value) = PercentText.pair(pair) else { throw .streamQuery("the query cannot be decoded") }
            switch name {
            case "symbol":
                try self.add([value])
            case "symbols":
                if value == "*" {
                    guard self.symbols == nil else {
                        throw .streamQuery("symbols=* means all; leave out other symbols")
                    }
                    self.symbols = []
                } else {
                    try self.add(value.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
                }
            case "delivery":
                guard word == nil else { throw .streamQuery("delivery is given twice") }
                word = value
            case "every":
                guard milliseconds == nil else { throw .streamQuery("every is given twice") }
                // A URL has no number type, so a value of digits alone counts as a number in a request does.
                guard let read = StreamDelivery.milliseconds(value) ?? Int(value) else { throw .fault(.every) }
                milliseconds = read
            case "since":
                guard self.since == nil else { throw .streamQuery("since is given twice") }
                guard let read = TapePosition(value) else { throw .fault(.since) }
                self.since = read
            case "overflow":
                guard self.overflow == nil else { throw .streamQuery("overflow is given twice") }
                guard let read = StreamOverflow(rawValue: value) else { throw .fault(.overflow) }
                self.overflow = read
            case "token":
                break
            default:
                throw .badQuery("there is no parameter \(name.prefix(32)) here", known: Self.known)
            }
        }
        do throws(StreamRequest.Fault) {
            self.delivery = try StreamDelivery.parse(word: word, milliseconds: milliseconds)
        } catch {
            throw .fault(error)
        }
        if self.since != nil, self.symbols == nil { throw .streamQuery("since needs symbols, or symbols=*") }
    }

    private mutating func add(_ names: [String]) throws(HTTPRefusal) {
        if self.symbols?.isEmpty == true { throw .streamQuery("symbols=* means all; leave out other symbols") }
        for name in names {
            let fault = SymbolName.fault(in: name)?.words ?? (name == "*" ? "cannot be combined with others" : nil)
            if let fault {
                throw .streamQuery("a symbol in the query \(fault): \(name.prefix(SymbolName.longest))")
            }
        }
        self.symbols = (self.symbols ?? []) + names
    }

    /// Returns the negotiated subprotocol; `nil` if none is offered. A token can travel as a subprotocol (`bearer.…`),
    /// which is ignored here.
    static func subprotocol(_ headers: HTTPHeaders) throws(HTTPRefusal) -> String? {
        let offered = headers[canonicalForm: "Sec-WebSocket-Protocol"].filter { !$0.hasPrefix("bearer.") }
        if offered.isEmpty { return nil }
        guard offered.contains(where: { $0 == StreamHello.subprotocol }) else {
            throw HTTPRefusal(
                status: .badRequest,
                type: "unknown-subprotocol",
                message: "none of the subprotocols offered is supported here",
                hint: "offer \(StreamHello.subprotocol), or none"
            )
        }
        return StreamHello.subprotocol
    }
}

extension HTTPRefusal {
    fileprivate static func fault(_ fault: StreamRequest.Fault) -> HTTPRefusal { .streamQuery(fault.message) }

    /// A fault in the query of `/v1/stream`, with the page that describes it.
    fileprivate static func streamQuery(_ message: String) -> HTTPRefusal {
        .badQuery(message, page: "docs/relay-protocol.md")
    }
}
