import NIOCore
import NIOHTTP1
import Wire

/// The stand-in's REST service: the three lists that this program asks Finnhub for, of what the recording has.
///
/// Headlines are none in a recording, and none are made up.
struct StandInAnswers: Sendable {
    /// How long a client may take to read its answer.
    private static let closeTimeout: TimeAmount = .seconds(10)

    private let symbols: [String]

    init(_ material: ReplayMaterial) {
        switch material {
        case .recording(let file): self.symbols = file.symbols
        case .market(let run): self.symbols = run.market.symbols.map(\.name)
        }
    }

    /// Takes over a connection whose first request asks for no WebSocket; `refusal` is what a fault answers instead.
    func join(_ channel: any Channel, refusal: Fault.Refusal?) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(HTTPResponseEncoder())
        try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))
        try pipeline.addHandler(
            Handler { head in
                if let refusal {
                    return Answer(
                        status: HTTPResponseStatus(statusCode: refusal.status),
                        headers: HTTPHeaders(refusal.headers.map { ($0.name, $0.value) }),
                        body: ByteBuffer(string: refusal.body)
                    )
                }
                return self.answer(head)
            }
        )
        channel.eventLoop.scheduleTask(in: Self.closeTimeout) { channel.close(promise: nil) }
    }

    struct Answer: Equatable {
        var status: HTTPResponseStatus
        var headers: HTTPHeaders = [:]
        var body: ByteBuffer

        static func error(_ status: HTTPResponseStatus, _ text: String) -> Answer {
            var body = ByteBuffer(string: #"{"error":"#)
            JSONText.escape(text, into: &body)
            body.writeString("}")
            return Answer(status: status, body: body)
        }
    }

    /// Answers as the real service; any key is good enough, none is not.
    func answer(_ head: HTTPRequestHead) -> Answer {
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count == 2 ? parts[1] : ""
        func parameter(_ name: String) -> Substring? {
            query.split(separator: "&").first { $0.hasPrefix("\(name)=") }?.dropFirst(name.utf8.count + 1)
        }
        let key = head.headers.first(name: "X-Finnhub-Token") ?? parameter("token").map(String.init) ?? ""
        guard !key.isEmpty else { return .error(.unauthorized, "Please use an API key.") }
        guard head.method == .GET else { return .error(.methodNotAllowed, "use GET") }
        switch parts[0] {
        case "/api/v1/crypto/exchange":
            var names: [String] = []
            for symbol in self.symbols {
                if let exchange = Self.exchange(of: symbol), !names.contains(exchange) { names.append(exchange) }
            }
            return Answer(status: .ok, body: Self.list(names) { name, out in JSONText.escape(name, into: &out) })
        case "/api/v1/crypto/symbol":
            let exchange = parameter("exchange")?.uppercased() ?? ""
            let listed = self.symbols.filter { Self.exchange(of: $0)?.uppercased() == exchange }.map {
                ListedSymbol(named: $0, description: "\(exchange.capitalised) \($0.dropFirst(exchange.count + 1))")
            }
            return Answer(
                status: .ok,
                body: Self.list(listed) { symbol, out in
                    out.writeString(#"{"description":"#)
                    JSONText.escape(symbol.description, into: &out)
                    out.writeString(#","displaySymbol":"#)
                    JSONText.escape(symbol.displaySymbol, into: &out)
                    out.writeString(#","symbol":"#)
                    JSONText.escape(symbol.symbol, into: &out)
                    out.writeString("}")
                }
            )
        case "/api/v1/news":
            return Answer(status: .ok, body: ByteBuffer(string: "[]"))
        default:
            return .error(.notFound, "the stand-in has /crypto/exchange, /crypto/symbol and /news only")
        }
    }

    private static func exchange(of symbol: String) -> String? {
        symbol.firstIndex(of: ":").map { String(symbol[..<$0]) }
    }

    private static func list<Value>(_ values: [Value], _ write: (Value, inout ByteBuffer) -> Void) -> ByteBuffer {
        var out = ByteBuffer(string: "[")
        for (index, value) in values.enumerated() {
            if index > 0 { out.writeString(",") }
            write(value, &out)
        }
        out.writeString("]")
        return out
    }

    /// Answers one request, and closes.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let answer: (HTTPRequestHead) -> Answer
        private var hasAnswered = false

        init(_ answer: @escaping (HTTPRequestHead) -> Answer) {
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .head(let head) = self.unwrapInboundIn(data), !self.hasAnswered else { return }
            self.hasAnswered = true
            let answer = self.answer(head)
            var response = HTTPResponseHead(version: .http1_1, status: answer.status, headers: answer.headers)
            if !response.headers.contains(name: "Content-Type") {
                response.headers.add(name: "Content-Type", value: "application/json; charset=utf-8")
            }
            response.headers.replaceOrAdd(name: "Content-Length", value: "\(answer.body.readableBytes)")
            response.headers.replaceOrAdd(name: "Connection", value: "close")
            context.write(self.wrapOutboundOut(.head(response)), promise: nil)
            context.write(self.wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil)
            let written = context.eventLoop.makePromise(of: Void.self)
            // The client closes; a close from here with its bytes unread would reset the connection under the answer.
            written.futureResult.assumeIsolated().whenComplete { _ in context.close(mode: .output, promise: nil) }
            context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: written)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

extension String {
    /// The first letter large, the others small: `Binance`.
    fileprivate var capitalised: String { self.prefix(1).uppercased() + self.dropFirst().lowercased() }
}
