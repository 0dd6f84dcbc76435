import Market
package import NIOCore
import Wire

/// A simulated market as a mock server plays it: with repeated frames and gaps, and possibly with an end.
package struct SimulatedRun: Sendable {
    package struct Settings: Sendable {
        package var market: SimulatedMarket.Settings
        /// The share of messages that are repeated at once, 0 to 1.
        package var repeats = 0.0
        /// The interval and the length of gaps, ns; without an interval there are no gaps.
        package var gapInterval: Int64?
        package var gapLength: Int64 = 0
        /// The length, ns; `nil` for an endless market.
        package var length: Int64?

        package init(market: SimulatedMarket.Settings) { self.market = market }
    }

    private let settings: Settings
    private var market: SimulatedMarket
    private var chance: SeededGenerator
    private var gap: ClosedRange<Int64>?
    private var waiting: [ReplayCursor.Item] = []
    private var line = 0

    package init(_ settings: Settings) {
        self.settings = settings
        self.market = SimulatedMarket(settings.market)
        // A separate generator, so that the market is the same with and without repeats.
        self.chance = SeededGenerator(seed: settings.market.seed ^ 0x5EED_0F_A11)
        if let interval = settings.gapInterval, settings.gapLength > 0 {
            self.gap = interval...interval.addingCapped(settings.gapLength)
        }
    }

    /// Returns the wall clock at its start, ns since 1970.
    package static func start(of settings: Settings) -> Int64 { settings.market.start * 1_000_000 }

    /// Returns the next item, or `nil` at the end.
    package mutating func next() -> ReplayCursor.Item? {
        while self.waiting.isEmpty {
            let frame = self.market.nextFrame()
            if let length = self.settings.length, frame.at >= length { return nil }
            self.take(frame)
        }
        return self.waiting.removeFirst()
    }

    private mutating func take(_ frame: SimulatedMarket.Frame) {
        if let gap, frame.at >= gap.lowerBound {
            if frame.at < gap.upperBound { return }
            self.endGap(gap, at: frame.at)
        }
        self.line += 1
        var recorded = RecordedFrame(line: self.line, at: frame.at, frame: frame.text)
        recorded.dialect = self.settings.market.dialect
        self.waiting.append(.frame(recorded))
        guard self.settings.repeats > 0 else { return }
        if Double.random(in: 0..<1, using: &self.chance) < self.settings.repeats {
            self.waiting.append(.frame(recorded))
        }
    }

    private mutating func endGap(_ gap: ClosedRange<Int64>, at: Int64) {
        let start = Self.start(of: self.settings)
        let reported = Gap(
            from: start.addingCapped(gap.lowerBound),
            to: start.addingCapped(gap.upperBound),
            reason: "the simulated market has a gap",
            nextSequence: 0
        )
        self.waiting.append(.gap(RecordedGap(at: at, gap: reported)))
        // Not before the end of this gap, however far a silence has extended it.
        let interval = self.settings.gapInterval ?? .max
        let next = max(gap.lowerBound.addingCapped(interval), at.addingCapped(1))
        self.gap = next...next.addingCapped(self.settings.gapLength)
    }

    /// Writes the whole market as a recording; the same settings give the same bytes.
    ///
    /// - Parameter take: called with the pieces, in order; its error ends the recording.
    package static func record(_ settings: Settings, into take: (ByteBuffer) throws -> Void) rethrows {
        precondition(settings.length != nil, "a recording of a market without end")
        var run = SimulatedRun(settings)
        let dialect = settings.market.dialect
        var recording = RecordingBuffer(
            RecordingHeader(
                version: dialect == .finnhub ? RecordingHeader.currentVersion : RecordingHeader.dialectVersion,
                symbols: run.market.symbolNames,
                start: Self.start(of: settings),
                source: "simulated"
            )
        )
        while let item = run.next() {
            switch item {
            case .frame(let frame): recording.frame(frame.frame, of: dialect, at: frame.at)
            case .gap(let gap): recording.gap(gap.gap, at: gap.at)
            case .signal, .closing, .connected, .settled: break
            }
            guard recording.bytes.readableBytes >= 1 << 20 else { continue }
            try take(recording.takeBytes())
        }
        recording.end()
        try take(recording.takeBytes())
    }
}
