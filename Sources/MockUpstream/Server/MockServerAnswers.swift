import HTTP
import NIOCore
import NIOHTTP1
import Wire

/// The mock server's REST API: the three lists that this program requests from Finnhub, made from the recording's
/// symbols.
///
/// A recording has no headlines, so their list is empty.
struct MockServerAnswers: Sendable {
    private let symbols: [String]

    init(_ material: ReplayMaterial) {
        switch material {
        case .recording(let file): self.symbols = file.symbols
        case .market(let run): self.symbols = run.market.symbols.map(\.name)
        }
    }

    static func error(_ status: HTTPResponseStatus, _ text: String) -> HTTPAnswer {
        Self.json(status, JSONWriter.object { out in out.field("error", text) })
    }

    private static func json(_ status: HTTPResponseStatus, _ body: ByteBuffer) -> HTTPAnswer {
        HTTPAnswer(status: status, headers: ["Content-Type": "application/json; charset=utf-8"], body: body)
    }

    /// Answers a request as the real service does. Any key is valid, but one is required.
    func answer(_ head: HTTPRequestHead) -> HTTPAnswer {
        let key = head.headers.first(name: "X-Finnhub-Token") ?? head.parameter("token") ?? ""
        guard !key.isEmpty else { return Self.error(.unauthorized, "Please use an API key.") }
        guard head.method == .GET else { return Self.error(.methodNotAllowed, "use GET") }
        switch head.path {
        case "/api/v1/crypto/exchange":
            var names: [String] = []
            for symbol in self.symbols {
                if let exchange = Self.exchange(of: symbol), !names.contains(exchange) { names.append(exchange) }
            }
            return Self.json(.ok, JSONWriter.array { out in for name in names { out.element(name) } })
        case "/api/v1/crypto/symbol":
            let exchange = head.parameter("exchange")?.uppercased() ?? ""
            let listed = self.symbols.filter { Self.exchange(of: $0)?.uppercased() == exchange }.map {
                ListedSymbol(named: $0, description: "\(exchange.capitalised) \($0.dropFirst(exchange.count + 1))")
            }
            return Self.json(
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
            return Self.json(.ok, ByteBuffer(string: "[]"))
        default:
            return Self.error(.notFound, "the stand-in has /crypto/exchange, /crypto/symbol and /news only")
        }
    }

    private static func exchange(of symbol: String) -> String? {
        symbol.firstIndex(of: ":").map { String(symbol[..<$0]) }
    }
}

extension String {
    /// The text with its first letter in upper case, the others in lower case: `Binance`.
    fileprivate var capitalised: String { self.prefix(1).uppercased() + self.dropFirst().lowercased() }
}
