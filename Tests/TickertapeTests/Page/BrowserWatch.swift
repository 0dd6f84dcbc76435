import Foundation
import Testing
import TickertapeTesting

/// A headless Chromium with a page, controlled by `Tests/Page/browser.py`.
final class BrowserWatch {
    /// The contents of the page at one moment.
    struct Seen: Decodable {
        var symbol: String
        var price: String
        var word: String
        var level: String
        var freshness: String
        var marks: String
        var detail: String
        /// The chart's text for screen readers.
        var chart: String
        /// The number of rows in the tape.
        var rows: Int
        /// The rows that are notes instead of trades.
        var notes: [String]
        var figures: [String: String]
    }

    private struct Line: Decodable {
        var problem: String?
        var ended: Bool?
    }

    /// The path of the browser in Debian and other distributions; `nil` if it is not installed.
    static var chromium: String? {
        ["chromium", "chromium-browser", "google-chrome"].lazy.map { "/usr/bin/\($0)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    let program: RunningProgram
    /// The unread lines in reverse order, and the number of lines taken so far.
    private var waiting: [String] = []
    private var taken = 0

    init(_ arguments: String...) throws {
        try #require(
            FileManager.default.isExecutableFile(atPath: RunningProgram.python),
            "\(RunningProgram.python) is missing: run scripts/test, which makes it"
        )
        self.program = try RunningProgram(
            RunningProgram.python,
            ["\(RunningProgram.sources)/Tests/Page/browser.py"] + arguments
        )
    }

    /// Returns the next line; `nil` at the browser's end or after the limit.
    func line(atMost limit: Duration = .seconds(60)) async -> String? {
        if self.waiting.isEmpty {
            // All available lines are taken at once, since some pages print many.
            _ = await self.program.lines(self.taken + 1, atMost: limit)
            let output = self.program.output
            let whole = output[..<(output.lastIndex(of: "\n") ?? output.startIndex)].split(separator: "\n").map(
                String.init
            )
            self.waiting = whole.dropFirst(self.taken).reversed()
        }
        self.taken += self.waiting.isEmpty ? 0 : 1
        return self.waiting.popLast()
    }

    /// Returns the next state of the page that matches, continuing after the previous match.
    ///
    /// - Parameter limit: the time limit for a match, regardless of other states.
    func sees(
        atMost limit: Duration = .seconds(90),
        _ isIt: (Seen) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Seen {
        let end = ContinuousClock.now + limit * Patience.factor
        while ContinuousClock.now < end, let line = await self.line() {
            guard let seen = try? JSONDecoder().decode(Seen.self, from: Data(line.utf8)) else { continue }
            if isIt(seen) { return seen }
        }
        let shown = self.program.output.suffix(3_000)
        Issue.record("never seen; the last: \(shown) \(self.program.errors)", sourceLocation: sourceLocation)
        throw NeverSeen()
    }

    struct NeverSeen: Error {}

    /// The problems in the browser so far.
    var problems: [String] {
        self.program.output.split(separator: "\n").compactMap {
            (try? JSONDecoder().decode(Line.self, from: Data($0.utf8)))?.problem
        }
    }

    /// Ends the browser, and returns whether its exit status was 0.
    func end() async -> Bool {
        self.program.send(signal: SIGTERM)
        return await self.program.ending() == .exit(0)
    }
}
