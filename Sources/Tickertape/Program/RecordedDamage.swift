import MockUpstream
import NIOConcurrencyHelpers

/// The warnings about unreadable parts of a played recording.
enum RecordedDamage {
    /// The largest number of places that get their own line.
    private static let maximumLines = 20

    /// Reports the unreadable parts after the replay, when all are known.
    static func printError(of file: RecordingFile) {
        for path in file.damage.cutOff {
            Console.printError(
                "warning: \(path) is cut off: what followed, if anything, is missing; `recording verify` says more"
            )
        }
        for dialect in file.damage.unplayed {
            Console.printError("warning: \(RecordingDamage.words(forUnplayed: dialect, path: file.path))")
        }
        guard let summary = file.damage.summary else { return }
        let verb = file.damage.lines + file.damage.parts == 1 ? "is" : "are"
        Console.printError("warning: \(summary) of \(file.path) cannot be read and \(verb) left out")
    }

    /// Reports each unreadable place when the player reaches it, up to ``maximumLines``.
    static func printErrorAtOnce(of file: RecordingFile) {
        let lines = NIOLockedValueBox(0)
        file.damage.watch { line in
            let count = lines.withLockedValue { lines in
                lines += 1
                return lines
            }
            if count <= self.maximumLines { Console.printError("warning: \(line)") }
        }
    }
}
