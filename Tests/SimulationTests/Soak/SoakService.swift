import Market
import NIOCore
import NIOEmbedded
@testable import Feeds
@testable import Simulation
@testable import WebSocket

/// The service and the connections to it, in place of sockets. It executes the plan's faults.
///
/// Unchecked, because everything runs on the test's thread, which is the loop's too.
final class SoakService: Connecting, @unchecked Sendable {
    private let clock: SoakClock
    private let attemptStore: SoakCounts
    private let settings: FinnhubSettings
    private var generator: SeededGenerator

    /// The newest connection that was opened.
    private(set) var current: SoakConnection?
    private var outage: (kind: SoakOutage, until: Int64)?
    private var flapsUntil: Int64 = 0
    private var muteUntil: Int64 = 0
    private var invalidUntil: [(until: Int64, isNamed: Bool)] = Array(repeating: (0, false), count: 3)
    private var tooManyUntil: [Int64] = [0, 0, 0]
    private var redelivers: [Int] = [0, 0, 0]
    private var triples = false
    private var cuts: Bool?
    /// The newest trades of each symbol.
    private var newest: [[(number: Int, time: Int64)]] = [[], [], []]

    init(settings: FinnhubSettings, clock: SoakClock, attemptStore: SoakCounts, seed: UInt64) {
        self.settings = settings
        self.clock = clock
        self.attemptStore = attemptStore
        self.generator = SeededGenerator(seed: seed)
    }

    // MARK: Connecting

    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        self.attemptStore.attemptBegan()
        var opening = SoakConnection.Opening.accepted
        if let outage, self.clock.wall < outage.until {
            switch outage.kind {
            case .unreachable(let nanoseconds):
                return loop.scheduleTask(in: .nanoseconds(nanoseconds)) {
                    throw UpstreamFailure("the service cannot be reached")
                }.futureResult
            case .hangs: opening = .hangs
            case .refused(let status, let retryAfter, let body):
                self.attemptStore.attemptMeets(rateLimit: status == 429, retryAfter: retryAfter)
                opening = .refused(Self.answer(status, retryAfter, body))
            }
        }
        let channel = EmbeddedChannel(loop: self.clock.loop)
        do {
            let line = VirtualSocket()
            try channel.pipeline.syncOperations.addHandler(line)
            channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 443), promise: nil)
            let connection = SoakConnection(line, opening: opening, clock: self.clock)
            connection.opened = { [unowned self] in self.opened($0) }
            connection.asked = { [unowned self] in self.asked($0, symbol: $1) }
            connection.gone = { [unowned self] in if $0 === self.current { self.current = nil } }
            // The line retains the other end, as a socket would.
            let sent = line.sent
            line.sent = { bytes in withExtendedLifetime(connection) { sent(bytes) } }
            try reached(channel)
        } catch {
            return loop.makeFailedFuture(error)
        }
        let bound = NIOLoopBound(connected, eventLoop: loop)
        let connector = self.settings.connector
        var request = WebSocketClientRequest(host: connector.address.authority, target: connector.target)
        request.timeout = connector.dial.upgradeTimeout
        return channel.upgradeToWebSocket(request, settings: connector.webSocket) { channel, _ in
            self.attemptStore.attemptOpened()
            try bound.value(channel, false)
        }.flatMapErrorThrowing { error in
            guard let error = error as? WebSocketUpgradeError else { throw error }
            throw UpstreamFailure(upgrade: error, within: connector.dial.upgradeTimeout, now: self.clock.wall)
        }
    }

    private static func answer(_ status: Int, _ retryAfter: Int64?, _ body: String) -> String {
        let wait = retryAfter.map { "Retry-After: \($0)\r\n" } ?? ""
        return "HTTP/1.1 \(status) Answer\r\nContent-Length: \(body.utf8.count)\r\n\(wait)\r\n\(body)"
    }

    private func opened(_ connection: SoakConnection) {
        self.current = connection
        if self.clock.wall < self.flapsUntil {
            let life = Int64.random(in: 30_000_000...900_000_000, using: &self.generator)
            let isReset = Bool.random(using: &self.generator)
            self.clock.loop.scheduleTask(in: .nanoseconds(life)) { connection.end(isReset: isReset) }
        }
    }

    private func asked(_ connection: SoakConnection, symbol: Int) -> String? {
        let now = self.clock.wall
        if now < self.invalidUntil[symbol].until {
            return self.invalidUntil[symbol].isNamed ? "Invalid symbol \(SoakMarket.names[symbol])" : "Invalid symbol"
        }
        if now < self.tooManyUntil[symbol] { return "Subscribing to too many symbols" }
        let count = self.redelivers[symbol]
        if count > 0 {
            self.redelivers[symbol] = 0
            let again = self.newest[symbol].suffix(count)
            self.attemptStore.redeliveries += again.count
            connection.send(text: SoakMarket.message(symbol, again))
        }
        return nil
    }

    // MARK: The market

    /// Whether there is a connection to which a fault can happen.
    var isConnected: Bool { self.current.map { $0.frozen == nil && $0.subscribed.contains(true) } ?? false }

    /// Whether a fault may happen now. It may not while trades are missing without a sign: the program cannot notice a
    /// mute that another fault ends before the symbol's threshold.
    var canBreak: Bool {
        guard let current, self.isConnected, self.clock.wall >= self.muteUntil else { return false }
        return !current.isMute && current.mutes.allSatisfy { $0 == nil }
    }

    /// Whether trades cannot come now, whatever the program does. The program has 31 s to notice a connection that
    /// passes nothing any more: 20 to the next ping, 10 for the pong.
    var isBroken: Bool {
        let now = self.clock.wall
        if let outage, now < outage.until { return true }
        if now < self.flapsUntil || now < self.muteUntil { return true }
        guard let current else { return false }
        if let frozen = current.frozen { return self.clock.monotonic - frozen < 31 * SoakClock.second }
        return current.isMute || current.mutes.contains { $0 != nil }
    }

    /// Takes an event of the market, and sends it to a connected client.
    func happened(_ event: SoakMarket.Event) {
        let trades = event.times.enumerated().map { (number: event.first + $0, time: $1) }
        self.newest[event.symbol].append(contentsOf: trades)
        if self.newest[event.symbol].count > 40 { self.newest[event.symbol].removeFirst(10) }
        guard let current, current.sends(event.symbol), self.clock.wall >= self.muteUntil else { return }
        let message = SoakMarket.message(event.symbol, trades)
        let frame = SoakConnection.frame(0x1, ByteBuffer(string: message))
        if let isReset = self.cuts {
            self.cuts = nil
            let length = Int.random(in: 1..<frame.readableBytes, using: &self.generator)
            current.send(bytes: frame.getSlice(at: 0, length: length) ?? ByteBuffer())
            current.end(isReset: isReset)
            return
        }
        let copies = self.triples ? 3 : 1
        self.attemptStore.redeliveries += (copies - 1) * trades.count
        for _ in 0..<copies { self.sendSplit(frame, current) }
        self.triples = false
    }

    /// Sends a frame, sometimes in two pieces as networks do.
    private func sendSplit(_ frame: ByteBuffer, _ connection: SoakConnection) {
        guard Int.random(in: 0..<20, using: &self.generator) == 0 else { return connection.send(bytes: frame) }
        var rest = frame
        let head = rest.readSlice(length: Int.random(in: 1..<frame.readableBytes, using: &self.generator))
        connection.send(bytes: head ?? ByteBuffer())
        connection.send(bytes: rest)
    }

    // MARK: Faults

    /// Executes a fault, except `sleep`, which is the machine's.
    func suffer(_ fault: SoakFault) {
        let now = self.clock.wall
        guard let current else { return }
        switch fault {
        case .close(let code):
            current.isMute = true
            current.sendClose(code: code)
        case .fin: current.end(isReset: false)
        case .reset: current.end(isReset: true)
        case .halfOpen: current.freeze()
        case .muteConnection: current.isMute = true
        case .muteFeed(let time): self.muteUntil = now + time
        case .muteSymbol(let symbol, let mute): current.mutes[symbol] = mute
        case .cutFrame(let isReset): self.cuts = isReset
        case .breach: current.send(bytes: ByteBuffer(bytes: [0xFF, 0x13, 0x37, 0x00]))
        case .outage(let kind, let time):
            self.outage = (kind, now + time)
            current.end(isReset: true)
        case .flapping(let time):
            self.flapsUntil = now + time
            current.end(isReset: true)
        case .invalidSymbol(let symbol, let time, let isNamed):
            self.invalidUntil[symbol] = (now + time, isNamed)
            current.end(isReset: false)
        case .tooManySymbols(let symbol, let time):
            self.tooManyUntil[symbol] = now + time
            current.end(isReset: false)
        case .redelivery(let count):
            self.redelivers = [count, count, count]
            current.end(isReset: false)
        case .triple: self.triples = true
        case .nonsense: current.send(text: #"{"data":[{"p":"x"}],"type":"trade"}"#)
        case .error: current.send(text: #"{"msg":"something is wrong","type":"error"}"#)
        case .sleep: break
        }
    }

    /// Lets the client's machine fall asleep.
    func clientSleeps(_ kind: SoakSleep) {
        switch kind {
        case .delivers: self.current?.backlog = ByteBuffer()
        case .drops: self.muteUntil = .max
        case .freezes: self.current?.freeze()
        case .resets: self.current?.freeze()
        }
    }

    /// Lets the client's machine wake up.
    func clientWakes(_ kind: SoakSleep) {
        switch kind {
        case .delivers:
            guard let current, let backlog = current.backlog else { return }
            current.backlog = nil
            if backlog.readableBytes > 0 { current.send(bytes: backlog) }
        case .drops: self.muteUntil = 0
        case .freezes: break
        case .resets: self.current?.thawWithReset()
        }
    }
}
