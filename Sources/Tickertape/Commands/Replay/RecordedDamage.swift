import MockUpstream
import NIOConcurrencyHelpers

/// The warnings of what cannot be read of a recording that is played.
enum RecordedDamage {
    /// The most places that are reported one by one.
    private static let maximumLines = 20

    /// Reports what could not be read, at the end, when all is known.
    static func complain(of file: RecordingFile) {
        for path in file.damage.cutOff {
            Console.complain(
                "warning: \(path) is cut off: what followed, if anything, is missing; `recording verify` says more"
            )
        }
        guard let summary = file.damage.summary else { return }
        let verb = file.damage.lines + file.damage.parts == 1 ? "is" : "are"
        Console.complain("warning: \(summary) of \(file.path) cannot be read and \(verb) left out")
    }

    /// Reports each place that cannot be read when the player comes to it; of many the first.
    static func complainAtOnce(of file: RecordingFile) {
        let lines = NIOLockedValueBox(0)
        file.damage.watch { line in
            let count = lines.withLockedValue { lines in
                lines += 1
                return lines
            }
            if count <= self.maximumLines { Console.complain("warning: \(line)") }
        }
    }
}
