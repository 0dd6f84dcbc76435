import Market
import NIOConcurrencyHelpers
import NIOCore
import Recordings
import Wire

/// A recorder without thread and disk, which digests the bytes of its files one after the other.
final class RecorderHarness: TapeReader {
    /// A path under which no file can exist, so that no real recordings are read. Long recordings contain its last
    /// component.
    private static let path = "/dev/null/recording.jsonl"

    private let recorder: Recorder

    init(
        symbols: [String],
        epoch: UInt64,
        dialect: FrameDialect,
        output: OutputDigest,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64
    ) throws {
        self.recorder = try Recorder(
            path: Self.path,
            symbols: symbols,
            started: wallClock(),
            program: "tickertape",
            epoch: epoch,
            dialect: dialect,
            source: "replay",
            address: "127.0.0.1",
            clock: RecorderClock(wall: wallClock, monotonic: { Int64(loop.now.uptimeNanoseconds) }),
            disk: DigestingDisk(NIOLoopBound(output, eventLoop: loop)),
            isByHand: true,
            printError: { _ in }
        )
    }

    func read(_ batch: TapeBatch) {
        self.recorder.read(batch)
        self.recorder.drain()
    }

    func statusChanged(_ status: FeedStatus) { self.recorder.statusChanged(status) }
    func connectionChanged(_ event: ConnectionEvent, monotonic: Int64) {
        self.recorder.connectionChanged(event, monotonic: monotonic)
    }
    func gapFound(_ gap: Gap) { self.recorder.gapFound(gap) }
    func gapSettled(_ outcome: GapOutcome) { self.recorder.gapSettled(outcome) }

    func stop() { _ = self.recorder.close() }
}

/// A disk that only digests what is written.
private struct DigestingDisk: RecordingDisk {
    private final class File: RecordingOutput {
        let output: NIOLoopBound<OutputDigest>

        init(_ output: NIOLoopBound<OutputDigest>) { self.output = output }

        func write(_ bytes: UnsafeRawBufferPointer) throws(DiskFailure) { self.output.value.take(bytes) }
        func truncate(to length: UInt64) -> Bool { false }
        func sync() throws(DiskFailure) {}
        func close() {}
    }

    private let output: NIOLoopBound<OutputDigest>

    init(_ output: NIOLoopBound<OutputDigest>) { self.output = output }

    func create(_ path: String) throws(DiskFailure) -> any RecordingOutput { File(self.output) }
    func remove(_ path: String) {}
}
