import Foundation
import Testing

/// A text that a test expects, kept in a file of `Tests/Snapshots`, where pictures of many lines can be read.
///
/// `TICKERTAPE_WRITE_SNAPSHOTS=1` writes the files anew; look at the difference before you believe it.
enum SnapshotFile {
    static func check(_ name: String, _ text: String, location: SourceLocation = #_sourceLocation) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Snapshots")
        let file = folder.appendingPathComponent("\(name).txt")
        if ProcessInfo.processInfo.environment["TICKERTAPE_WRITE_SNAPSHOTS"] == "1" {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try (text + "\n").write(to: file, atomically: true, encoding: .utf8)
            return
        }
        let expected = try String(contentsOf: file, encoding: .utf8)
        guard text + "\n" != expected else { return }
        let (shown, meant) = (
            text.split(separator: "\n", omittingEmptySubsequences: false),
            expected.split(separator: "\n", omittingEmptySubsequences: false)
        )
        let line = zip(shown, meant).enumerated().first { $0.element.0 != $0.element.1 }
        Issue.record(
            """
            \(name) differs from its snapshot, first in line \((line?.offset ?? min(shown.count, meant.count)) + 1):
            \(line.map { "meant: \($0.element.1)\nshown: \($0.element.0)" } ?? "it has \(shown.count) lines, not \(meant.count - 1)")
            """,
            sourceLocation: location
        )
    }
}
