import Feeds
import Market
import Recordings
import ServiceLifecycle

/// The recorder of the program, and what it says at the end.
extension TickerProgram {
    func makeRecorder(epoch: UInt64, warn: @escaping @Sendable (String) -> Void) throws -> Recorder? {
        guard let path = self.settings.record.file else { return nil }
        do {
            return try Recorder(
                path: path,
                symbols: self.feed.symbols,
                started: WallClock.now(),
                program: tickertapeVersion,
                epoch: epoch,
                source: self.feed.source.word,
                address: "\(self.feed.upstream)",
                settings: self.settings.recorder,
                clock: RecorderClock(wall: WallClock.now),
                complain: warn
            )
        } catch {
            throw OperatorError("\(error)", status: .failure)
        }
    }

    func recorderPart(_ recorder: Recorder) -> ProgramPart {
        ProgramPart("recorder") {
            try? await gracefulShutdown()
            let report = await recorder.finish()
            guard report.isWhole else {
                Console.complain(
                    "warning: the disk of \(recorder.path) does not answer; what it has not taken is missing there "
                        + "(`tickertape recording verify` tells where the file ends)"
                )
                return
            }
            let more = report.segments > 1 ? " and \(report.segments - 1) more" : ""
            Console.complain("recorded \(report.frames) frames, \(report.bytes) bytes, to \(recorder.path)\(more)")
            if report.dropped > 0 {
                Console.complain("warning: \(report.dropped) frames are missing there; the disk was full or too slow")
            }
            if report.doubted > 0 {
                Console.complain(
                    "warning: \(report.doubted) frames may be lost in a power cut; the disk failed to sync them"
                )
            }
        }
    }
}
