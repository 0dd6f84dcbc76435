import Feeds
import Recordings
import ServiceLifecycle

/// The recorder of a program, with its final report.
struct RecordingService {
    let recorder: Recorder

    /// Creates the file; `nil` if the settings have no recording.
    ///
    /// - Parameters:
    ///   - run: what names the run of this program.
    ///   - isMember: whether the numbers of the trades are those of an ingest of a cluster, and not of this run.
    ///   - history: the history that takes the completed files into its index.
    init?(
        _ settings: Settings,
        feed: FeedPlan,
        run: UInt64,
        isMember: Bool,
        history: HistoryService?,
        warnings: Warnings
    ) throws(OperatorError) {
        guard let path = settings.record.file else { return nil }
        do {
            self.recorder = try Recorder(
                path: path,
                symbols: feed.symbols,
                started: WallClock.now(),
                program: tickertapeVersion,
                epoch: isMember ? nil : run,
                run: isMember ? run : nil,
                dialect: feed.dialect,
                source: feed.source.word,
                address: feed.addresses,
                settings: settings.recorder,
                clock: RecorderClock(wall: WallClock.now),
                completed: { history?.completed($0, newest: $1) },
                printError: warnings.warn(of: .recorder)
            )
        } catch {
            throw OperatorError("\(error)", status: .failure)
        }
    }

    /// The service that records until the program stops, and then reports.
    var part: NamedService {
        NamedService("recorder") {
            try? await gracefulShutdown()
            let report = await recorder.finish()
            guard report.isWhole else {
                Console.printError(
                    "warning: the disk of \(recorder.path) does not answer; what it has not taken is missing there "
                        + "(`tickertape recording verify` shows where the file ends)",
                    part: .recorder
                )
                return
            }
            let more = report.segments > 1 ? " and \(report.segments - 1) more" : ""
            Console.printError(
                "recorded \(report.frames) frames, \(report.bytes) bytes, to \(recorder.path)\(more)",
                part: .recorder
            )
            if report.dropped > 0 {
                Console.printError(
                    "warning: \(report.dropped) frames are missing there; the disk was full or too slow",
                    part: .recorder
                )
            }
            if report.doubted > 0 {
                Console.printError(
                    "warning: \(report.doubted) frames may be lost in a power cut; the disk failed to sync them",
                    part: .recorder
                )
            }
        }
    }
}
