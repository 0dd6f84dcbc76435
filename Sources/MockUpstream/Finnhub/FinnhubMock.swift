package import HTTP
package import Market
package import NIOCore
package import NIOHTTP1
package import Wire

/// Finnhub's protocol. Its REST side has the three lists that this program requests, made from the material's symbols.
///
/// A recording has no headlines, so their list is empty.
package struct FinnhubMock: MockProtocol {
    package init() {}

    package var dialect: FrameDialect { .finnhub }
    package var attemptLimit: AttemptLimit? { nil }
    package var tradesPerFrame: Int? { nil }

    /// Finnhub's own path is `/`; Coinbase's is, too, but its clients have no key.
    package func owns(_ head: HTTPRequestHead) -> Bool { self.key(in: head) != nil }

    /// Any key is valid, but one is required.
    package func refusal(of head: HTTPRequestHead) -> HTTPAnswer? {
        self.key(in: head) == nil ? self.error(.unauthorized, "Invalid API key") : nil
    }

    package func key(in head: HTTPRequestHead) -> String? {
        head.parameter("token") ?? head.headers.first(name: "X-Finnhub-Token")
    }

    package func error(_ status: HTTPResponseStatus, _ text: String) -> HTTPAnswer {
        .json(status, JSONWriter.object { out in out.field("error", text) })
    }

    package func body(of status: Int) -> String {
        switch status {
        case 401: "{\"error\":\"Invalid API key\"}"
        case 403: "{\"error\":\"You don't have access to this resource.\"}"
        case 429: "{\"error\":\"API limit reached. Please try again later. Remaining Limit: 0\"}"
        default: ""
        }
    }

    package func makeSession(_ opening: MockSessionOpening) -> any MockSession { FinnhubMockSession(opening) }

    package func encode(_ trades: ArraySlice<Trade>, symbols: SymbolTable) -> [ByteBuffer] {
        guard !trades.isEmpty else { return [] }
        var frame = ByteBuffer()
        frame.reserveCapacity(96 * trades.count + 32)
        FinnhubEncoder.trade(trades, symbols: symbols, into: &frame)
        return [frame]
    }

    package func errorMessage(_ text: String) -> ByteBuffer { FinnhubEncoder.error(text) }

    /// Answers a request as the real service does. Any key is valid, but one is required.
    package func objection(to head: HTTPRequestHead) -> HTTPAnswer? {
        let key = head.headers.first(name: "X-Finnhub-Token") ?? head.parameter("token") ?? ""
        guard !key.isEmpty else { return self.error(.unauthorized, "Please use an API key.") }
        return head.method == .GET ? nil : self.error(.methodNotAllowed, "use GET")
    }

    package func answer(_ head: HTTPRequestHead, symbols: [String]) -> HTTPAnswer {
        switch head.path {
        case "/api/v1/crypto/exchange":
            var names: [String] = []
            for symbol in symbols {
                if let exchange = Self.exchange(of: symbol), !names.contains(exchange) { names.append(exchange) }
            }
            return .json(.ok, JSONWriter.array { out in for name in names { out.element(name) } })
        case "/api/v1/crypto/symbol":
            let exchange = head.parameter("exchange")?.uppercased() ?? ""
            let listed = symbols.filter { Self.exchange(of: $0)?.uppercased() == exchange }.map {
                ListedSymbol(named: $0, description: "\(exchange.capitalised) \($0.dropFirst(exchange.count + 1))")
            }
            return .json(
                .ok,
                JSONWriter.array { out in
                    for symbol in listed {
                        out.element { out in
                            out.field("description", symbol.description)
                            out.field("displaySymbol", symbol.displaySymbol)
                            out.field("symbol", symbol.symbol)
                        }
                    }
                }
            )
        case "/api/v1/news":
            return .json(.ok, ByteBuffer(string: "[]"))
        default:
            return self.error(.notFound, "the stand-in has /crypto/exchange, /crypto/symbol and /news only")
        }
    }

    private static func exchange(of symbol: String) -> String? {
        symbol.firstIndex(of: ":").map { String(symbol[..<$0]) }
    }
}

extension HTTPAnswer {
    /// Makes an answer with JSON.
    static func json(_ status: HTTPResponseStatus, _ body: ByteBuffer) -> HTTPAnswer {
        HTTPAnswer(status: status, headers: ["Content-Type": "application/json; charset=utf-8"], body: body)
    }
}

extension String {
    /// The text with its first letter in upper case, the others in lower case: `Binance`.
    fileprivate var capitalised: String { self.prefix(1).uppercased() + self.dropFirst().lowercased() }
}
