import Glibc
import History
import Market
import NIOConcurrencyHelpers
import Simulation
import Wire

/// A history in a temporary folder for the duration of a deterministic run, whose rows are one of its outputs.
///
/// It uses the program's ``HistoryRecorder`` with its thread. The replay waits for the recorder now and then, so that
/// its queue never overflows. The number of commits does not change the rows.
final class HistoryHarness: TapeReader {
    /// The number of trades after which the replay waits for the recorder; its queue has room for more.
    private static let tradesBetweenWaits = 50_000
    private static let barsAtATime = 10_000

    private let historyRecorder: HistoryRecorder
    private let folder: String
    /// The number of trades since the last wait.
    private let waiting = NIOLockedValueBox(0)

    /// - Throws: ``OperatorError`` when no temporary folder can be made.
    init() throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/tickertape-hash-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw OperatorError(
                "no folder can be made in \(parent): \(String(cString: strerror(errno)))",
                status: .failure
            )
        }
        self.folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var limits = HistoryRecorder.Limits()
        limits.pause = 0.02
        self.historyRecorder = try HistoryRecorder(
            path: "\(self.folder)/history.db",
            limits: limits,
            recording: { nil },
            // Failures are the only use of the wall clock.
            wallClock: WallClock.now,
            notify: { Console.printError("warning: \($0)") }
        )
    }

    deinit {
        for suffix in ["", "-wal", "-shm", ".lock"] { unlink("\(self.folder)/history.db\(suffix)") }
        rmdir(self.folder)
    }

    func read(_ batch: TapeBatch) {
        self.historyRecorder.read(batch)
        let isEnough = self.waiting.withLockedValue { waiting in
            waiting += batch.trades.count
            guard waiting >= Self.tradesBetweenWaits else { return false }
            waiting = 0
            return true
        }
        if isEnough { self.historyRecorder.waitUntilWritten() }
    }

    func statusChanged(_ status: FeedStatus) { self.historyRecorder.statusChanged(status) }
    func gapFound(_ gap: Gap) { self.historyRecorder.gapFound(gap) }
    func gapSettled(_ outcome: GapOutcome) { self.historyRecorder.gapSettled(outcome) }

    /// Ends the history without reading it.
    func abandon() async { _ = await self.historyRecorder.finish() }

    /// Reads every row of the bars, a line for each bar, and ends the history.
    func finish(keepsBytes: Bool) async throws -> HarnessOutput {
        self.historyRecorder.waitUntilWritten()
        let output = OutputDigest("history", keepsBytes: keepsBytes)
        for symbol in try await self.historyRecorder.ask({ try $0.symbols() }) {
            for width in BarWidth.allCases {
                var from = Int64.min
                while true {
                    let first = from
                    let bars = try await self.historyRecorder.ask { store in
                        try store.bars(of: symbol, width, from: first, to: nil, limit: Self.barsAtATime)
                    }
                    for bar in bars {
                        output.take("\(symbol) \(width.word) ")
                        output.take(StreamEncoder.barObject(bar, isClosed: true))
                        output.take("\n")
                    }
                    guard bars.count == Self.barsAtATime, let last = bars.last else { break }
                    from = last.start + 1
                }
            }
        }
        let report = await self.historyRecorder.finish()
        guard report.lost == 0 else {
            throw OperatorError("\(report.lost) trades were dropped in \(self.folder)", status: .failure)
        }
        return output.finish()
    }
}
