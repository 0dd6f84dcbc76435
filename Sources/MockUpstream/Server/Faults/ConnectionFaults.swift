import Market
package import NIOCore
import Wire

/// The faults of one connection: a machine from its accept to its end.
///
/// Time is monotonic nanoseconds, chance comes from the seed alone. What the peer is to be sent passes through
/// ``frameWritten(_:now:)``; what happens at a moment is told by ``timeReached(now:)``.
package struct ConnectionFaults: Sendable {
    /// How the connection opens.
    package enum Opening: Sendable, Equatable {
        case normal
        case hang(Fault.Stage)
        case cut(Fault.Stage, isReset: Bool)
        case refuse(Fault.Refusal)
    }

    /// Something that happens to an open connection.
    package enum Event: Sendable, Equatable {
        case drop
        case reset
        /// The next frame is the one to be cut.
        case cutNextFrame
        case fallSilent
        case halfOpen
        case close(code: UInt16, reason: String)
        case sendText(ByteBuffer)
        /// Bytes as they are, which are no frame.
        case sendBytes(ByteBuffer)
        /// At most so many bytes a second from now on; `nil` is as many as can be.
        case limitRate(Int?)
    }

    /// What becomes of a frame: what is sent in its place.
    package enum Outcome: Sendable, Equatable {
        /// The frame and nothing else.
        case pass
        /// These instead, perhaps none.
        case texts([ByteBuffer])
        /// The start of it, and then the end of TCP.
        case cut
    }

    package let opening: Opening
    package let latency: Int64
    package let jitter: Int64
    /// What the line's jitter is drawn from.
    let lineSeed: UInt64
    private let conditions: [Fault]
    /// What is still to happen, the next one last.
    private var agenda: [(at: Int64, event: Event)]
    private var opened: Int64?
    private var cutsNextFrame = false
    /// A frame that waits for the next one to overtake it.
    private var held: ByteBuffer?
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
        // Stable, so that what is asked for at the same moment happens in the order in which it was asked for.
        self.agenda = Array(
            self.agenda.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
                .map(\.element).reversed()
        )
    }

    /// Whether nothing will ever happen to frames or at a moment.
    package var isQuiet: Bool { self.agenda.isEmpty && self.conditions.isEmpty }

    /// At most so many bytes a second from the accept on; a rate with a time begins later, as an event.
    package var initialRate: Int? {
        for fault in self.conditions where fault.window == nil {
            if case .slow(let rate) = fault.kind { return rate }
        }
        return nil
    }

    /// Takes the open of the WebSocket, from which all times count.
    package mutating func webSocketOpened(now: Int64) {
        precondition(self.opened == nil, "a connection opened twice")
        self.opened = now
    }

    /// When ``timeReached(now:)`` wants to be called next.
    package var deadline: Int64? {
        guard let opened, let next = self.agenda.last else { return nil }
        return opened + next.at
    }

    /// Takes the passing of time; returns what happens now, in order.
    package mutating func timeReached(now: Int64) -> [Event] {
        var events: [Event] = []
        while let deadline, deadline <= now, let next = self.agenda.popLast() {
            if case .cutNextFrame = next.event { self.cutsNextFrame = true }
            // Nothing overtakes the frame that was to be overtaken by another frame.
            if case .close = next.event, let held = self.takeHeld() { events.append(.sendText(held)) }
            events.append(next.event)
        }
        return events
    }

    /// Takes a frame that the peer is to be sent; returns what becomes of it.
    package mutating func frameWritten(_ frame: ByteBuffer, now: Int64) -> Outcome {
        if self.cutsNextFrame { return .cut }
        let elapsed = now - (self.opened ?? now)
        guard self.conditions.contains(where: { $0.holds(at: elapsed) }) || self.held != nil else { return .pass }
        self.trades.removeAll(keepingCapacity: true)
        _ = self.reader.read(frame, of: .finnhub, symbols: &self.symbols, into: &self.trades)
        guard !self.trades.isEmpty else { return .pass }
        return self.tradesWritten(frame, elapsed: elapsed)
    }

    /// Takes the frame that waits for another, because no other will come.
    package mutating func takeHeld() -> ByteBuffer? {
        defer { self.held = nil }
        return self.held
    }

    private mutating func tradesWritten(_ frame: ByteBuffer, elapsed: Int64) -> Outcome {
        var frame = frame
        var copies = 1
        var garbage: [ByteBuffer] = []
        var isOvertaken = false
        var isChanged = false
        for fault in self.conditions where fault.holds(at: elapsed) {
            switch fault.kind {
            case .stall(nil):
                return .texts([])
            case .stall(let symbol?):
                guard let rest = self.withhold(symbol) else { break }
                guard rest.readableBytes > 0 else { return .texts([]) }
                frame = rest
                isChanged = true
            case .duplicate(let probability, let count):
                if self.happens(probability) { copies = max(copies, count) }
            case .reorder(let probability):
                if self.happens(probability) { isOvertaken = true }
            case .garbage(let probability):
                if self.happens(probability) { garbage.append(Garbage.text(of: frame, using: &self.generator)) }
            case .slow:
                break
            case .refuse, .hang, .cut, .cutFrame, .halfOpen, .close, .brokenFrame, .huge, .error:
                preconditionFailure("\(fault.kind) is no condition")
            }
        }
        let overtaker = self.takeHeld()
        // A frame that overtakes is not overtaken itself: every frame is at most one place late.
        if overtaker == nil, isOvertaken {
            self.held = frame
            return .texts(garbage)
        }
        guard isChanged || copies > 1 || !garbage.isEmpty || overtaker != nil else { return .pass }
        return .texts(garbage + Array(repeating: frame, count: copies) + (overtaker.map { [$0] } ?? []))
    }

    /// The frame without the trades of a symbol: empty if there are no others, `nil` if the symbol is not in it.
    private mutating func withhold(_ symbol: String) -> ByteBuffer? {
        let others = self.trades.filter { self.symbols.name(of: $0.symbol) != symbol }
        guard others.count < self.trades.count else { return nil }
        self.trades = others
        var rest = ByteBuffer()
        if !others.isEmpty { FinnhubEncoder.trade(others, symbols: self.symbols, into: &rest) }
        return rest
    }

    private mutating func happens(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self.generator) < probability
    }

    private static func opening(_ fault: Fault) -> Opening {
        switch fault.kind {
        case .refuse(let refusal): .refuse(refusal)
        case .hang(let stage): .hang(stage)
        case .cut(let stage, let isReset): .cut(stage, isReset: isReset)
        case .cutFrame, .halfOpen, .close, .stall, .duplicate, .reorder, .garbage, .brokenFrame, .huge, .error, .slow:
            preconditionFailure("\(fault.kind) does not decide how a connection opens")
        }
    }

    /// When a fault happens, after the open, and what that is.
    private mutating func moments(of fault: Fault) -> [(at: Int64, event: Event)] {
        let window = fault.window ?? Fault.Window(from: 0, to: 0)
        if case .slow(let rate) = fault.kind {
            guard fault.window != nil else { return [] }
            return [(window.from, .limitRate(rate))] + (window.to > window.from ? [(window.to, .limitRate(nil))] : [])
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
        case .error(let text): .sendText(FinnhubEncoder.error(text))
        case .refuse, .stall, .duplicate, .reorder, .garbage, .slow:
            preconditionFailure("\(kind) does not happen at a moment")
        }
    }
}

extension ConnectionFaults.Opening: CustomStringConvertible {
    /// As it is written; empty where nothing goes wrong.
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
        case .close(let code, _): "close=\(code)"
        case .sendText(let text) where text.readableBytes <= 120: String(buffer: text)
        case .sendText(let text): "a message of \(text.readableBytes) bytes"
        case .sendBytes: "broken-frame"
        case .limitRate(let rate): rate.map { "slow=\($0)B/s" } ?? "slow no more"
        }
    }
}
