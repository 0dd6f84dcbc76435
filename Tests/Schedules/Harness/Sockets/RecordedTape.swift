import Foundation
import Market
import NIOCore
import Wire

/// The recording of a running program, read while it grows, as the tape that a ``TapeChecker`` reads.
final class RecordedTape {
    private let folder: String
    /// The files that were there before the program.
    private let before: Set<String>
    private let checker: TapeChecker
    private let market: VenueMarket
    private var file: FileHandle?
    private var parser = RecordingParser()
    private var frames = FrameReader()
    private var symbols = SymbolTable()
    private var header: RecordingHeader?
    /// The files so far, in their order.
    private(set) var files: [String] = []
    /// The report at its planned end.
    private(set) var hours: [CompletenessHour] = []
    private(set) var hasEnd = false
    /// Called after each read of trades, with its arrival on the machine's monotonic clock, ns.
    var arrived: (_ monotonic: Int64, _ trades: [Trade]) -> Void = { _, _ in }

    init(in folder: String, _ checker: TapeChecker, _ market: VenueMarket) {
        self.folder = folder
        self.checker = checker
        self.market = market
        self.before = Self.recordings(in: folder)
    }

    private static func recordings(in folder: String) -> Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return Set(names.filter { $0.hasSuffix(".jsonl") })
    }

    /// Reads what has been written since the last call.
    func read() {
        if self.file == nil, let name = Self.recordings(in: self.folder).subtracting(self.before).min() {
            self.open(name)
        }
        while let file, let data = try? file.read(upToCount: 1 << 20), !data.isEmpty {
            self.parser.feed(ByteBuffer(bytes: data))
            while let line = self.parser.nextLine() { self.take(line) }
        }
    }

    /// Reads the rest after the program's end.
    func finish() {
        self.read()
        self.parser.finish()
        while let line = self.parser.nextLine() { self.take(line) }
    }

    private func open(_ name: String) {
        self.files.append("\(self.folder)/\(name)")
        self.file = FileHandle(forReadingAtPath: "\(self.folder)/\(name)")
        self.parser = RecordingParser()
        if self.file == nil { self.checker.fault("\(name) cannot be read") }
    }

    private func take(_ line: RecordedLine) {
        switch line.content {
        case .header(let header):
            if self.header == nil { self.checker.epochBegan(header.epoch ?? 0, first: 1, symbols: self.symbols) }
            self.header = header
        case .frame: if let frame = line.frame { self.take(frame) }
        case .gap(let gap, let dropped):
            if let dropped { self.checker.fault("the recorder dropped \(dropped) frames") }
            self.checker.gapFound(gap)
        case .note(let note):
            if let outcome = note.outcome { self.checker.gapSettled(outcome) }
            if let hour = note.hour { self.hours.append(hour) }
            if note.kind == .end {
                self.hasEnd = true
                if let next = note.word { self.open(next) }
            }
        case .unknown: self.checker.fault("line \(line.line) of the recording is of an unknown kind")
        case .damaged(let reason): self.checker.fault("line \(line.line) of the recording is damaged: \(reason)")
        // What a kill leaves.
        case .torn: break
        case .unreadable: self.checker.fault("a part of the recording cannot be read")
        }
    }

    private func take(_ frame: RecordedFrame) {
        guard let numbers = frame.numbers else { return }
        guard let recorded = frame.numberedTrades(&self.frames, symbols: &self.symbols) else {
            return self.checker.fault("the numbers in line \(frame.line) do not fit its text")
        }
        let trades = recorded.map(\.trade)
        // The venue has brought what is on the tape. What it brings and the tape lacks is named by a gap, or missing.
        for trade in trades where !trade.isFilled { self.given(trade) }
        var batch = TapeBatch(
            epoch: self.header?.epoch ?? 0,
            firstSequence: numbers.first,
            received: (frame.wall ?? 0) * 1_000,
            // The frames of one read share the wall clock of its arrival. The line's time is later where a gap stands
            // between them.
            receivedMonotonic: frame.wall ?? 0,
            trades: trades,
            frames: [],
            symbols: self.symbols
        )
        batch.losses.repeatedTrades = numbers.leftOut.count
        self.checker.read(batch)
        self.arrived((self.header?.monotonic ?? 0) + frame.at, trades)
    }

    private func given(_ trade: Trade) {
        guard let symbol = self.market.symbols.firstIndex(of: self.symbols.name(of: trade.symbol)), let id = trade.id,
            id >= self.market.columns[symbol].first
        else { return }
        let place = Int(id - self.market.columns[symbol].first)
        if place < self.market.columns[symbol].events.count { self.checker.given(symbol: symbol, place: place) }
    }
}
