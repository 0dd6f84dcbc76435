import NIOCore
import NIOEmbedded
import Wire
@testable import Feeds
@testable import Simulation
@testable import WebSocket

/// One connection as the service sees it: the upgrade, the client's frames, and the faults.
final class SoakConnection {
    /// The round-trip time, ns.
    static let latency: Int64 = 40_000_000

    enum Opening {
        case accepted
        /// The upgrade is refused with these bytes.
        case refused(String)
        case hangs
    }

    enum Mute {
        /// Until the symbol is subscribed to again, on this connection or another one.
        case untilAsked
        case untilReconnected
    }

    private let clock: SoakClock
    private let line: VirtualSocket
    private let opening: Opening
    private var input = ByteBuffer()
    private(set) var isOpen = false
    private(set) var isGone = false
    /// The time since which nothing passes in either direction; monotonic ns.
    private(set) var frozen: Int64?
    private(set) var subscribed = [false, false, false]
    /// Whether no trades are sent, while everything else is.
    var isMute = false
    var mutes: [Mute?] = [nil, nil, nil]
    /// The bytes that wait while the client's machine sleeps.
    var backlog: ByteBuffer?
    var opened: (SoakConnection) -> Void = { _ in }
    /// Answers a subscription to a symbol: an error's text, or `nil`.
    var asked: (SoakConnection, Int) -> String? = { _, _ in nil }
    var gone: (SoakConnection) -> Void = { _ in }

    init(_ line: VirtualSocket, opening: Opening, clock: SoakClock) {
        self.line = line
        self.opening = opening
        self.clock = clock
        // The client's bytes arrive at once, and the answers take the whole round trip: this saves a timer per ping.
        line.sent = { [weak self] bytes in self?.received(bytes) }
        line.ended = { [weak self] in self?.clientEnded() }
        line.endedSending = { [weak self] in self?.clientEnded() }
    }

    private func later(after nanoseconds: Int64 = SoakConnection.latency, _ body: @escaping (SoakConnection) -> Void) {
        self.clock.loop.assumeIsolated().scheduleTask(in: .nanoseconds(nanoseconds)) {
            guard self.frozen == nil else { return }
            body(self)
        }
    }

    // MARK: Faults

    func freeze() { self.frozen = self.frozen ?? self.clock.monotonic }

    /// Ends a frozen connection, as when a packet of the client was answered with a RST.
    func thawWithReset() {
        guard self.frozen != nil else { return }
        self.frozen = nil
        self.end(isReset: true)
    }

    /// Ends the connection after the bytes under way.
    func end(isReset: Bool) {
        guard !self.isGone else { return }
        self.leave()
        self.later { $0.line.end(isReset: isReset) }
    }

    private func clientEnded() {
        guard !self.isGone, self.frozen == nil else { return }
        self.leave()
        self.later { $0.line.end(isReset: false) }
    }

    private func leave() {
        self.isGone = true
        self.gone(self)
    }

    // MARK: Output

    func send(text: String) { self.send(opcode: 0x1, ByteBuffer(string: text)) }

    func sendClose(code: UInt16) { self.send(opcode: 0x8, ByteBuffer(integer: code)) }

    func send(opcode: UInt8, _ payload: ByteBuffer) { self.send(bytes: Self.frame(opcode, payload)) }

    func send(bytes: ByteBuffer) {
        guard !self.isGone, self.frozen == nil else { return }
        if self.backlog != nil {
            self.backlog?.writeImmutableBuffer(bytes)
        } else {
            self.later { $0.line.deliver(bytes) }
        }
    }

    static func frame(_ opcode: UInt8, _ payload: ByteBuffer) -> ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeInteger(0x80 | opcode)
        if payload.readableBytes < 126 {
            bytes.writeInteger(UInt8(payload.readableBytes))
        } else {
            bytes.writeInteger(UInt8(126))
            bytes.writeInteger(UInt16(payload.readableBytes))
        }
        bytes.writeImmutableBuffer(payload)
        return bytes
    }

    // MARK: Input

    private func received(_ bytes: ByteBuffer) {
        guard !self.isGone, self.frozen == nil else { return }
        self.input.writeImmutableBuffer(bytes)
        if !self.isOpen { self.answerUpgrade() }
        while self.isOpen, let (opcode, payload) = self.nextFrame() { self.take(opcode, payload) }
    }

    private func answerUpgrade() {
        let request = String(buffer: self.input)
        guard request.hasSuffix("\r\n\r\n") else { return }
        self.input.clear()
        switch self.opening {
        case .hangs: break
        case .refused(let answer):
            self.send(bytes: ByteBuffer(string: answer))
            self.end(isReset: false)
        case .accepted:
            let key = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("sec-websocket-key: ") }?
                .split(separator: " ").last
            let accept = HandshakeKey.accept(for: String(key ?? ""))
            self.send(
                bytes: ByteBuffer(
                    string: "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                        + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"
                )
            )
            self.isOpen = true
            self.opened(self)
            self.sendHeartbeat()
        }
    }

    /// Sends Finnhub's own ping, a text every minute.
    private func sendHeartbeat() {
        guard !self.isGone, self.frozen == nil else { return }
        self.send(text: #"{"type":"ping"}"#)
        self.later(after: 60 * SoakClock.second) { $0.sendHeartbeat() }
    }

    /// Returns the next frame of the client, which is short, whole and masked.
    private func nextFrame() -> (opcode: UInt8, payload: ByteBuffer)? {
        var rest = self.input
        guard let first: UInt8 = rest.readInteger(), let second: UInt8 = rest.readInteger() else { return nil }
        precondition(second & 0x80 != 0 && second & 0x7F < 126, "a client's frame is masked, and ours are short")
        guard let mask = rest.readBytes(length: 4), let masked = rest.readBytes(length: Int(second & 0x7F)) else {
            return nil
        }
        self.input = rest
        if rest.readableBytes == 0 { self.input.clear() }
        return (first & 0x0F, ByteBuffer(bytes: masked.enumerated().map { $1 ^ mask[$0 & 3] }))
    }

    private func take(_ opcode: UInt8, _ payload: ByteBuffer) {
        switch opcode {
        case 0x8:
            self.send(opcode: 0x8, payload)
            self.end(isReset: false)
        case 0x9: self.send(opcode: 0xA, payload)
        case 0x1: self.take(FinnhubRequest.parse(payload))
        default: break
        }
    }

    private func take(_ request: FinnhubRequest?) {
        switch request {
        case .subscribe(let name):
            guard let symbol = SoakMarket.names.firstIndex(of: name) else { return }
            if let error = self.asked(self, symbol) {
                self.send(text: #"{"msg":"\#(error)","type":"error"}"#)
            } else {
                if case .untilAsked = self.mutes[symbol] { self.mutes[symbol] = nil }
                self.subscribed[symbol] = true
            }
        case .unsubscribe(let name):
            if let symbol = SoakMarket.names.firstIndex(of: name) { self.subscribed[symbol] = false }
        case .resume, .other, nil: break
        }
    }

    /// Returns whether the symbol's trades are sent to the client now.
    func sends(_ symbol: Int) -> Bool {
        self.isOpen && !self.isGone && self.frozen == nil && !self.isMute && self.subscribed[symbol]
            && self.mutes[symbol] == nil
    }
}
