import Market
package import NIOCore
import Wire

/// The faults of one connection: a state machine from its accept to its end.
///
/// Time is monotonic nanoseconds; chance comes from the seed alone. Frames to the peer pass through
/// ``frameWritten(_:now:)``; the events that are due come from ``timeReached(now:)``.
package struct ConnectionFaults: Sendable {
    /// How the connection opens.
    package enum Opening: Sendable, Equatable {
        case normal
        case hang(Fault.Stage)
        case cut(Fault.Stage, isReset: Bool)
        case refuse(Fault.Refusal)
    }

    /// An event on an open connection.
    package enum Event: Sendable, Equatable {
        case drop
        case reset
        /// The next frame is cut.
        case cutNextFrame
        case fallSilent
        case halfOpen
        /// The upstream announces the end of the connection.
        case announce
        case close(code: UInt16, reason: String)
        case sendText(ByteBuffer)
        /// An error in the upstream's form.
        case sendError(String)
        /// Raw bytes that are not a frame.
        case sendBytes(ByteBuffer)
        /// The most bytes per second from now on; `nil` removes the limit.
        case limitRate(Int?)
    }

    /// The result for a frame: what is sent in its place.
    package enum Outcome: Sendable, Equatable {
        /// The frame alone.
        case pass
        /// These texts instead, possibly none.
        case texts([ByteBuffer])
        /// The beginning of the frame, and then the end of TCP.
        case cut
    }

    package let opening: Opening
    package let latency: Int64
    package let jitter: Int64
    /// The seed of the line's jitter.
    let lineSeed: UInt64
    private let conditions: [Fault]
    /// The events still to come, the next one last.
    private var agenda: [(at: Int64, event: Event)]
    private var opened: Int64?
    private var cutsNextFrame = false
    /// The most frames that are late at a time; a further one is sent at once.
    private static let maximumLate = 1_000
    private var upstream: any MockProtocol = FinnhubMock()
    /// A frame that waits to be overtaken by the next one.
    private var held: ByteBuffer?
    /// The frames that wait for a number of later ones.
    private var late: [(frame: ByteBuffer, left: Int)] = []
    private var generator: SeededGenerator
    private var reader = FrameReader()
    private var symbols = SymbolTable()
    private var trades: [Trade] = []

    init(_ faults: [Fault], seed: UInt64, latency: Int64, jitter: Int64) {
        self.latency = latency
        self.jitter = jitter
        var generator = SeededGenerator(seed: seed)
        self.lineSeed = generator.next()
        self.generator = generator
        self.conditions = faults.filter { $0.nature == .condition }
        self.opening = faults.lazy.filter { $0.nature == .opening }.map(Self.opening).first ?? .normal
        self.agenda = []
        for fault in faults { self.agenda += self.moments(of: fault) }
        // A stable order: events of the same time keep the order of the faults.
        self.agenda = Array(
            self.agenda.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
                .map(\.element).reversed()
        )
    }

    /// Whether no frame is changed and no event is due, now or later.
    package var isQuiet: Bool { self.agenda.isEmpty && self.conditions.isEmpty }

    /// The most bytes per second from the accept on; a rate with a time begins later, as an event.
    package var initialRate: Int? {
        for fault in self.conditions where fault.window == nil {
            if case .slow(let rate) = fault.kind { return rate }
        }
        return nil
    }

    /// Notes the open of the WebSocket in a protocol, from which all times count.
    package mutating func webSocketOpened(now: Int64, as upstream: any MockProtocol = FinnhubMock()) {
        self.upstream = upstream
        precondition(self.opened == nil, "a connection opened twice")
        self.opened = now
    }

    /// The time of the next event, for ``timeReached(now:)``; monotonic ns.
    package var deadline: Int64? {
        guard let opened, let next = self.agenda.last else { return nil }
        return opened + next.at
    }

    /// Returns the events that are due, in order.
    package mutating func timeReached(now: Int64) -> [Event] {
        var events: [Event] = []
        while let deadline, deadline <= now, let next = self.agenda.popLast() {
            if case .cutNextFrame = next.event { self.cutsNextFrame = true }
            // Frames that wait for others are sent before a close frame.
            if case .close = next.event { events += self.takeHeld().map { .sendText($0) } }
            events.append(next.event)
        }
        return events
    }

    /// Returns what is sent in place of a frame to the peer.
    package mutating func frameWritten(_ frame: ByteBuffer, now: Int64) -> Outcome {
        if self.cutsNextFrame { return .cut }
        let elapsed = now - (self.opened ?? now)
        guard self.conditions.contains(where: { $0.holds(at: elapsed) }) || self.held != nil || !self.late.isEmpty
        else { return .pass }
        self.trades.removeAll(keepingCapacity: true)
        _ = self.reader.read(frame, of: self.upstream.dialect, symbols: &self.symbols, into: &self.trades)
        guard !self.trades.isEmpty else { return .pass }
        return self.tradesWritten(frame, elapsed: elapsed)
    }

    /// Returns the frames that wait for others, because no other frame will come.
    package mutating func takeHeld() -> [ByteBuffer] {
        defer { self.late = [] }
        return (self.takeOvertaken().map { [$0] } ?? []) + self.late.map(\.frame)
    }

    private mutating func takeOvertaken() -> ByteBuffer? {
        defer { self.held = nil }
        return self.held
    }

    /// Counts a frame of trades; returns the frames that have been late for long enough.
    private mutating func takeDue() -> [ByteBuffer] {
        guard !self.late.isEmpty else { return [] }
        for index in self.late.indices { self.late[index].left -= 1 }
        defer { self.late.removeAll { $0.left <= 0 } }
        return self.late.filter { $0.left <= 0 }.map(\.frame)
    }

    private mutating func tradesWritten(_ frame: ByteBuffer, elapsed: Int64) -> Outcome {
        var frame = frame
        var copies = 1
        var garbage: [ByteBuffer] = []
        var isOvertaken = false
        var isChanged = false
        var delay: Int?
        for fault in self.conditions where fault.holds(at: elapsed) {
            switch fault.kind {
            case .stall(nil):
                return .texts([])
            case .stall(let symbol?):
                guard let rest = self.withhold(symbol, in: frame) else { break }
                guard rest.readableBytes > 0 else { return .texts([]) }
                frame = rest
                isChanged = true
            case .duplicate(let probability, let count):
                if self.happens(probability) { copies = max(copies, count) }
            case .reorder(let probability):
                if self.happens(probability) { isOvertaken = true }
            case .withhold(let probability):
                if self.happens(probability) { return .texts(self.takeDue()) }
            case .late(let probability, let frames):
                if self.happens(probability), self.late.count < Self.maximumLate { delay = frames }
            case .garbage(let probability):
                if self.happens(probability) { garbage.append(Garbage.text(of: frame, using: &self.generator)) }
            case .slow:
                break
            case .refuse, .hang, .cut, .cutFrame, .halfOpen, .close, .rotation, .brokenFrame, .huge, .error, .rest:
                preconditionFailure("\(fault.kind) is no condition")
            }
        }
        let due = self.takeDue()
        if let delay {
            self.late.append((frame, delay))
            return .texts(garbage + due)
        }
        let overtaker = self.takeOvertaken()
        // An overtaking frame is not overtaken itself, so every frame is at most one place late.
        if overtaker == nil, isOvertaken {
            self.held = frame
            return .texts(garbage + due)
        }
        guard isChanged || copies > 1 || !garbage.isEmpty || overtaker != nil || !due.isEmpty else { return .pass }
        return .texts(garbage + Array(repeating: frame, count: copies) + (overtaker.map { [$0] } ?? []) + due)
    }

    /// Returns the frame without the trades of a symbol: empty if there are no others, `nil` if the symbol is not in
    /// it.
    private mutating func withhold(_ symbol: String, in frame: ByteBuffer) -> ByteBuffer? {
        let others = self.trades.filter { self.symbols.name(of: $0.symbol) != symbol }
        guard others.count < self.trades.count else { return nil }
        self.trades = others
        guard !others.isEmpty else { return ByteBuffer() }
        return self.upstream.cut(frame, to: others, symbols: self.symbols) ?? ByteBuffer()
    }

    private mutating func happens(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self.generator) < probability
    }

    private static func opening(_ fault: Fault) -> Opening {
        switch fault.kind {
        case .refuse(let refusal): .refuse(refusal)
        case .hang(let stage): .hang(stage)
        case .cut(let stage, let isReset): .cut(stage, isReset: isReset)
        case .cutFrame, .halfOpen, .close, .rotation, .stall, .duplicate, .reorder, .withhold, .late, .garbage,
            .brokenFrame, .huge, .error, .slow, .rest:
            preconditionFailure("\(fault.kind) does not decide how a connection opens")
        }
    }

    /// Returns the events of a fault and their times after the open, ns.
    private mutating func moments(of fault: Fault) -> [(at: Int64, event: Event)] {
        let window = fault.window ?? Fault.Window(from: 0, to: 0)
        if case .slow(let rate) = fault.kind {
            guard fault.window != nil else { return [] }
            return [(window.from, .limitRate(rate))] + (window.to > window.from ? [(window.to, .limitRate(nil))] : [])
        }
        if case .rotation(let after, let announced) = fault.kind {
            let announcement: [(at: Int64, event: Event)] = announced.map { [(after - $0, .announce)] } ?? []
            return announcement + [(after, .close(code: 1_001, reason: "the connection has reached its longest life"))]
        }
        guard fault.nature == .event else { return [] }
        return [(Int64.random(in: window.from...window.to, using: &self.generator), self.event(of: fault.kind))]
    }

    private mutating func event(of kind: Fault.Kind) -> Event {
        switch kind {
        case .hang: .fallSilent
        case .cut(_, let isReset): isReset ? .reset : .drop
        case .cutFrame: .cutNextFrame
        case .halfOpen: .halfOpen
        case .close(let code, let reason): .close(code: code, reason: reason)
        case .brokenFrame: .sendBytes(Garbage.bytes(using: &self.generator))
        case .huge(let bytes): .sendText(Garbage.message(bytes: bytes))
        case .error(let text): .sendError(text)
        case .refuse, .rotation, .stall, .duplicate, .reorder, .withhold, .late, .garbage, .slow, .rest:
            preconditionFailure("\(kind) does not happen at a moment")
        }
    }
}

extension ConnectionFaults.Opening: CustomStringConvertible {
    /// The fault's text form; empty without a fault.
    package var description: String {
        switch self {
        case .normal: ""
        case .hang(let stage): "hang=\(stage.rawValue)"
        case .cut(let stage, let isReset): "\(isReset ? "rst" : "drop")=\(stage.rawValue)"
        case .refuse(let refusal): "status=\(refusal.status)"
        }
    }
}

extension ConnectionFaults.Event: CustomStringConvertible {
    package var description: String {
        switch self {
        case .drop: "drop"
        case .reset: "rst"
        case .cutNextFrame: "cut-frame"
        case .fallSilent: "hang=data"
        case .halfOpen: "half-open"
        case .announce: "announcement"
        case .sendError(let text): "error=\(text)"
        case .close(let code, _): "close=\(code)"
        case .sendText(let text) where text.readableBytes <= 120: String(buffer: text)
        case .sendText(let text): "a message of \(text.readableBytes) bytes"
        case .sendBytes: "broken-frame"
        case .limitRate(let rate): rate.map { "slow=\($0)B/s" } ?? "slow no more"
        }
    }
}
