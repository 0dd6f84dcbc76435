import Glibc
import Testing

/// The expected text of a test, in a file of `Tests/Snapshots`, which shows screens of many lines legibly.
///
/// `TICKERTAPE_WRITE_SNAPSHOTS=1` rewrites the files; review the difference before committing it.
enum SnapshotFile {
    private struct NotOpened: Error {
        var path: String
    }

    static func check(_ name: String, _ text: String, location: SourceLocation = #_sourceLocation) throws {
        // This file is Tests/TerminalTests/SnapshotFile.swift.
        let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let path = "/\(tests)/Snapshots/\(name).txt"
        if getenv("TICKERTAPE_WRITE_SNAPSHOTS").map({ String(cString: $0) }) == "1" {
            mkdir("/\(tests)/Snapshots", 0o777)
            guard let file = fopen(path, "w") else { throw NotOpened(path: path) }
            fputs(text + "\n", file)
            fclose(file)
            return
        }
        let expected = try Self.read(path)
        guard text + "\n" != expected else { return }
        let shown = text.split(separator: "\n", omittingEmptySubsequences: false)
        let meant = expected.split(separator: "\n", omittingEmptySubsequences: false)
        let line = zip(shown, meant).enumerated().first { $0.element.0 != $0.element.1 }
        let number = (line?.offset ?? min(shown.count, meant.count)) + 1
        let lines = line.map { "meant: \($0.element.1)\nshown: \($0.element.0)" } ?? "another number of lines"
        Issue.record("\(name) differs from its snapshot, first in line \(number):\n\(lines)", sourceLocation: location)
    }

    private static func read(_ path: String) throws -> String {
        guard let file = fopen(path, "r") else { throw NotOpened(path: path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }
}
