import Feeds
import HTTP
import Market
import MockUpstream
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Simulation
import WebSocket
import Wire

/// One client of a ``SocketVenue``: a request over HTTP, or a WebSocket whose other end is a ``VenueLine``.
///
/// Unchecked, because everything runs on the schedule's thread.
final class SocketConnection: @unchecked Sendable {
    private enum State {
        case request(ByteBuffer)
        /// Something is sent later, or nothing at all.
        case answering
        case webSocket(EmbeddedChannel)
        case ended
    }

    private let venue: SocketVenue
    private let peer: SocketPeer
    private var state = State.request(ByteBuffer())

    init(_ venue: SocketVenue, _ peer: SocketPeer) {
        self.venue = venue
        self.peer = peer
    }

    private var service: VenueService { self.venue.service }
    private var now: Int64 { self.venue.clock.now }

    func received(_ bytes: ByteBuffer) {
        switch self.state {
        case .request(var text):
            text.writeImmutableBuffer(bytes)
            self.state = .request(text)
            if text.readableBytesView.suffix(4).elementsEqual("\r\n\r\n".utf8) { self.requested(text) }
        case .webSocket(let channel): channel.writeAndFlush(bytes, promise: nil)
        case .answering, .ended: break
        }
    }

    /// Notes that the client is gone.
    func ended() {
        if case .webSocket(let channel) = self.state { channel.close(promise: nil) }
        self.state = .ended
    }

    private func requested(_ text: ByteBuffer) {
        self.state = .answering
        guard let head = Self.head(String(buffer: text)) else {
            self.service.fault("a request that is no HTTP/1.1: \(String(buffer: text))")
            return self.peer.reset()
        }
        if WebSocketServerHandshake.wantsWebSocket(head) { self.upgrade(head) } else { self.answer(head) }
    }

    /// Reads a request without a body.
    private static func head(_ text: String) -> HTTPRequestHead? {
        let lines = text.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3, words[2] == "HTTP/1.1" else { return nil }
        var headers = HTTPHeaders()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers.add(name: String(line[..<colon]), value: String(value))
        }
        return HTTPRequestHead(
            version: .http1_1,
            method: HTTPMethod(rawValue: String(words[0])),
            uri: String(words[1]),
            headers: headers
        )
    }

    // MARK: WebSocket

    private func upgrade(_ head: HTTPRequestHead) {
        guard case .success(let accepted) = WebSocketServerHandshake.check(head) else {
            self.service.fault("a request for a WebSocket that is wrong: \(head)")
            return self.peer.reset()
        }
        switch self.service.attempted(now: self.now) {
        case .hangs: break
        case .refused(let failure):
            switch failure.disposition {
            case .rateLimited(let wait): self.send(.tooManyRequests, "", retryAfter: wait)
            case .retry, .keyRejected, .ended:
                if failure.cause == .lost { self.peer.reset() } else { self.send(.serviceUnavailable, "") }
            }
        case .accepted: self.open(accepted.responseHeaders)
        }
    }

    private func open(_ headers: HTTPHeaders) {
        let loop = self.venue.clock.loop
        let socket = VirtualSocket()
        let channel = EmbeddedChannel(loop: loop)
        do {
            try channel.pipeline.syncOperations.addHandlers(socket, SocketWriter(self.peer))
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 443), promise: nil)
        } catch {
            self.service.fault("a connection cannot be opened: \(error)")
            return self.peer.reset()
        }
        // The machine's wall clock would do for neither the trades' times nor the market's.
        let (clock, start) = (NIOLoopBound(loop, eventLoop: loop), self.service.market.start)
        let line = VenueLine(
            self.service.market,
            self.service.makeSession {
                start + Int64(clock.value.now.uptimeNanoseconds) - ProgramLife.origin
            },
            socket,
            recent: self.service.recent,
            loop: loop
        )
        // The socket retains the other end, as the network would.
        let sent = socket.sent
        socket.sent = { bytes in withExtendedLifetime(line) { sent(bytes) } }
        self.state = .webSocket(channel)
        let head = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        self.peer.write(ByteBuffer(string: "HTTP/1.1 101 Switching Protocols\r\n\(head)\r\n"))
        self.venue.opened()
        self.service.opened(line, of: nil)
    }

    // MARK: REST

    private func answer(_ head: HTTPRequestHead) {
        do throws(VenueTradesRequest.TargetFault) {
            self.reply(to: try VenueTradesRequest(target: head.uri, of: self.service.market.venue))
        } catch .other {
            // The list of symbols.
            let answer = self.service.mock.answer(head, symbols: self.service.market.symbols)
            self.send(answer.status, String(buffer: answer.body))
        } catch {
            self.service.fault("a request with a wrong target: \(head.uri)")
            self.send(.badRequest, "")
        }
    }

    private func reply(to request: VenueTradesRequest) {
        let wall = self.service.market.start + self.now - ProgramLife.origin
        let reply = self.service.asked(request, host: 0, now: self.now, wall: wall)
        switch reply.fault {
        case .silent: return
        case .unreachable: return self.peer.reset()
        default: break
        }
        let bound = NIOLoopBound(self, eventLoop: self.venue.clock.loop)
        self.venue.clock.loop.scheduleTask(in: .nanoseconds(reply.after)) {
            bound.value.send(reply, to: request)
        }
    }

    private func send(_ reply: VenueService.Reply, to request: VenueTradesRequest) {
        switch reply.fault {
        case .tooMany(let wait): self.send(.tooManyRequests, "", retryAfter: wait)
        case .banned(let wait): self.send(.imATeapot, "", retryAfter: wait)
        case .down: self.send(.serviceUnavailable, "")
        case .forbidden: self.send(.forbidden, "")
        case .silent, .unreachable: break
        case .html, .cutAnswer, .slow, .lag, .short, nil:
            let body = reply.body ?? self.service.body(for: request, reply.fault, now: self.now)
            self.send(.ok, String(buffer: body), isCut: reply.fault == .cutAnswer)
        }
    }

    /// Sends an answer, after which the connection ends.
    ///
    /// - Parameters:
    ///   - retryAfter: the wait that the answer asks for, ns; in whole seconds there.
    ///   - isCut: whether the header promises a longer body.
    private func send(_ status: HTTPResponseStatus, _ body: String, retryAfter: Int64? = nil, isCut: Bool = false) {
        guard case .answering = self.state else { return }
        let length = body.utf8.count + (isCut ? 100 : 0)
        let wait = retryAfter.map { "Retry-After: \(($0 + 999_999_999) / 1_000_000_000)\r\n" } ?? ""
        let type = body.hasPrefix("<") ? "text/html" : "application/json"
        let head =
            "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\nContent-Type: \(type)\r\nContent-Length: \(length)\r\n"
        self.peer.write(ByteBuffer(string: "\(head)\(wait)Connection: close\r\n\r\n\(body)"))
        self.peer.close()
        self.state = .ended
    }
}

/// The end of an embedded channel that writes to a real socket what arrives.
private final class SocketWriter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let peer: SocketPeer
    private var isReset = false

    init(_ peer: SocketPeer) { self.peer = peer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { self.peer.write(Self.unwrapInboundIn(data)) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.isReset = true }

    func channelInactive(context: ChannelHandlerContext) {
        if self.isReset { self.peer.reset() } else { self.peer.close() }
    }
}
