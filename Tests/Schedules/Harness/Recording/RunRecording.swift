import Glibc
import Market
import MockUpstream
import NIOCore
import Recordings
import Simulation
import Wire

/// The recordings of all runs of the program in one schedule, in one folder and under one name, and their proof.
final class RunRecording {
    private let market: VenueMarket
    private let folder: String
    private let segmentBytes: UInt64
    private var chance: SeededGenerator
    private var lives: [(epoch: UInt64, recorder: LifeRecorder)] = []
    private(set) var cutBytes: UInt64 = 0
    private(set) var trades = 0
    private(set) var replayed = 0
    private(set) var faults: [String] = []

    var killed: Int { self.lives.count { !$0.recorder.isWhole } }

    init(_ market: VenueMarket, seed: UInt64) throws(MarketFailure) {
        self.market = market
        self.chance = SeededGenerator(seed: seed &+ 31)
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/schedules-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw MarketFailure("no folder can be made in \(parent)") }
        self.folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        self.segmentBytes = Bool.random(using: &self.chance) ? RecorderSettings().segmentBytes : 1 << 20
    }

    func remove() {
        for path in self.lives.flatMap(\.recorder.disk.paths) { unlink(path) }
        rmdir(self.folder)
    }

    private var path: String { "\(self.folder)/run.jsonl" }

    func begin(
        epoch: UInt64,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64
    ) throws(MarketFailure) -> LifeRecorder {
        do {
            let recorder = try LifeRecorder(
                self.market,
                path: self.path,
                epoch: epoch,
                segmentBytes: self.segmentBytes,
                loop: loop,
                wallClock: wallClock
            )
            self.lives.append((epoch, recorder))
            return recorder
        } catch {
            throw MarketFailure("no recording can be made in \(self.folder): \(error)")
        }
    }

    /// Kills the newest recorder.
    func kill() { if let recorder = self.lives.last?.recorder { self.cutBytes += recorder.kill(&self.chance) } }

    // MARK: The proof

    /// Reads all recordings back, and replays one of them.
    func prove() {
        var completeness = CompletenessCheck()
        for (epoch, recorder) in self.lives {
            do {
                let read = try self.read(recorder)
                if let fault = self.fault(of: read, recorder) { self.fault(epoch, fault) }
                self.trades += read.trades.count
                try self.verify(recorder, read, epoch, &completeness)
            } catch {
                self.fault(epoch, "it cannot be read: \(error)")
            }
        }
        let place = Int.random(in: 0..<self.lives.count, using: &self.chance)
        do {
            try self.replay(self.lives[place].recorder, self.lives[place].epoch)
        } catch {
            self.fault(self.lives[place].epoch, "it cannot be replayed: \(error)")
        }
    }

    private func fault(_ epoch: UInt64, _ text: String) {
        if self.faults.count < 20 { self.faults.append("recording of run \(epoch): \(text)") }
    }

    /// Reads the lines of one recording.
    private func read(_ recorder: LifeRecorder) throws -> TapeCopy {
        let copy = TapeCopy(self.market.symbols)
        guard let first = recorder.disk.paths.first else { return copy }
        let stream = try RecordingStream(path: first)
        var reader = FrameReader()
        var symbols = SymbolTable()
        while let line = try stream.next() {
            switch line.content {
            case .frame:
                guard let frame = line.frame else { continue }
                guard frame.numbers != nil else { continue }
                guard let found = frame.numberedTrades(&reader, symbols: &symbols) else {
                    throw MarketFailure("a frame does not have the trades of its numbers")
                }
                for one in found {
                    let batch = TapeBatch(
                        epoch: 0,
                        firstSequence: one.sequence,
                        received: 0,
                        receivedMonotonic: 0,
                        trades: [one.trade],
                        frames: [],
                        symbols: symbols
                    )
                    copy.read(batch)
                }
            case .gap(let gap, nil): copy.gapFound(gap)
            case .note(let note): if let outcome = note.outcome { copy.gapSettled(outcome) }
            case .torn, .header: break
            case .gap, .unknown, .damaged, .unreadable: throw MarketFailure("it has the line \(line)")
            }
        }
        return copy
    }

    private func fault(of read: TapeCopy, _ recorder: LifeRecorder) -> String? {
        if let difference = read.difference(from: recorder.copy) { return difference }
        let (has, least) = (read.place, recorder.flushed)
        let isShort = has.trades < least.trades || has.gaps < least.gaps || has.outcomes < least.outcomes
        return isShort ? "it has \(has), and \(least) were written" : nil
    }

    /// Verifies the files of one recording as `recording verify` does.
    private func verify(
        _ recorder: LifeRecorder,
        _ read: TapeCopy,
        _ epoch: UInt64,
        _ completeness: inout CompletenessCheck
    ) throws {
        let paths = recorder.disk.paths
        var hours: [CompletenessHour] = []
        var reported = 0
        for (index, path) in paths.enumerated() {
            let (findings, completed) = try RecordingCheck.check(path, &completeness)
            let isLast = index == paths.count - 1
            let mustEnd = !isLast || recorder.isWhole
            if !findings.isIntact || (mustEnd && (!findings.isEnded || findings.tornAt != nil)) {
                self.fault(epoch, "\(path) is not intact: \(findings)")
            }
            for difference in completed.differences { self.fault(epoch, difference) }
            // A file has the hours that changed since the one before.
            reported += completed.reported
            hours = completed.hours
        }
        if recorder.isWhole, reported == 0 { self.fault(epoch, "it has no line of an hour") }
        let checker = TapeChecker(self.market)
        var places = self.market.symbols.map { _ in [Int]() }
        for trade in read.trades {
            let symbol = Int(trade.symbol.index)
            places[symbol].append(Int((trade.id ?? 0) - self.market.columns[symbol].first))
        }
        let lost = read.outcomes.map { ($0.symbol, $0.lost) }
        checker.check(hours, places: places.map { $0.sorted() }, lost: lost) { symbol in
            // Without a trade there is no hour that could lack one.
            guard !places[symbol].isEmpty else { return 0 }
            let onTape = Set(places[symbol].map { self.market.columns[symbol].first + UInt64($0) })
            let named = read.gaps.filter { $0.symbol == self.market.symbols[symbol] }.compactMap(\.missing)
            return named.joined().count { !onTape.contains($0) }
        }
        for fault in checker.faults { self.fault(epoch, fault) }
    }

    /// Plays a recording in virtual time, and compares the tape.
    private func replay(_ recorder: LifeRecorder, _ epoch: UInt64) throws {
        let read = try self.read(recorder)
        guard let first = recorder.disk.paths.first, !read.trades.isEmpty else { return }
        let file = try RecordingFile(path: first)
        let tape = TapeCopy(self.market.symbols)
        var order = VirtualReplay.Order(
            symbols: self.market.symbols,
            source: .replay(file: "run.jsonl", speed: 1),
            epoch: epoch
        )
        switch Int.random(in: 0..<3, using: &self.chance) {
        case 0: order.cutting = .pieces(Int.random(in: 40...400, using: &self.chance))
        case 1: order.cutting = .instants
        default: break
        }
        _ = try VirtualReplay(.recording(file), settings: ReplaySettings()).run(order, readers: [tape])
        self.replayed += tape.trades.count
        if let difference = tape.difference(from: read) { return self.fault(epoch, "replayed, \(difference)") }
        if tape.place != read.place { self.fault(epoch, "replayed, it has \(tape.place) of \(read.place)") }
    }
}
