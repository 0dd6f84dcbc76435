import Market
import NIOCore
import Recordings
import Wire

/// The recorder of one run of the program, and a copy of the tape that it records.
///
/// It writes at the times at which the recorder's thread would. Unchecked, because everything runs on the thread of the
/// harness, which is the loop's too.
final class LifeRecorder: TapeReader, @unchecked Sendable {
    let disk = CuttableDisk()
    let copy: TapeCopy
    /// How far the recording had come when it was last written.
    private(set) var flushed = TapeCopy.Place()
    private var flushedBytes: UInt64 = 0
    private var flushedAt = Int64.min
    private let settings: RecorderSettings
    private var recorder: Recorder?
    /// Whether the run was ended, and not killed.
    private(set) var isWhole = false

    init(
        _ market: VenueMarket,
        path: String,
        epoch: UInt64,
        segmentBytes: UInt64,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64
    ) throws {
        self.copy = TapeCopy(market.symbols)
        var settings = RecorderSettings()
        settings.segmentBytes = segmentBytes
        self.settings = settings
        let bound = NIOLoopBound(loop, eventLoop: loop)
        self.recorder = try Recorder(
            path: path,
            symbols: market.symbols,
            started: wallClock(),
            program: "schedules",
            epoch: epoch,
            dialect: market.venue.dialect,
            source: "live",
            settings: settings,
            clock: RecorderClock(wall: wallClock, monotonic: { Int64(bound.value.now.uptimeNanoseconds) }),
            disk: self.disk,
            isByHand: true,
            printError: { preconditionFailure("the recorder says: \($0)") }
        )
        self.flushedBytes = self.disk.bytes
    }

    func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {
        guard let recorder else { return }
        self.copy.epochBegan(epoch, first: first, symbols: symbols)
        recorder.epochBegan(epoch, first: first, symbols: symbols)
    }

    func read(_ batch: TapeBatch) {
        guard let recorder else { return }
        self.copy.read(batch)
        recorder.read(batch)
        guard batch.receivedMonotonic.subtractingCapped(self.flushedAt) >= self.settings.flushInterval else { return }
        recorder.drain()
        self.flushedAt = batch.receivedMonotonic
        self.flushed = self.copy.place
        self.flushedBytes = self.disk.bytes
    }

    func statusChanged(_ status: FeedStatus) { self.recorder?.statusChanged(status) }

    func gapFound(_ gap: Gap) {
        guard let recorder else { return }
        self.copy.gapFound(gap)
        recorder.gapFound(gap)
    }

    func gapSettled(_ outcome: GapOutcome) {
        guard let recorder else { return }
        self.copy.gapSettled(outcome)
        recorder.gapSettled(outcome)
    }

    func connectionChanged(_ event: ConnectionEvent, monotonic: Int64) {
        self.recorder?.connectionChanged(event, monotonic: monotonic)
    }

    // MARK: The end

    /// Ends the recording as `kill -9` does: of what was not written yet, the disk has any part.
    ///
    /// - Returns: the bytes that were cut off.
    func kill(_ chance: inout SeededGenerator) -> UInt64 {
        guard let recorder else { return 0 }
        // What a write under way may have brought to the disk.
        recorder.drain()
        self.recorder = nil
        let bytes = self.disk.bytes
        let length = UInt64.random(in: self.flushedBytes...bytes, using: &chance)
        self.disk.cut(to: length)
        return bytes - length
    }

    func stop() {
        _ = self.recorder?.close()
        guard self.recorder != nil else { return }
        self.recorder = nil
        self.isWhole = true
        self.flushed = self.copy.place
    }
}
