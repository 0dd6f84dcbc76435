import Foundation
import Testing
import TickertapeTesting

/// A headless Chromium that looks at a page, driven by `Tests/Page/browser.py`.
final class BrowserWatch {
    /// What stood on the page at one moment.
    struct Seen: Decodable {
        var symbol: String
        var price: String
        var word: String
        var level: String
        var freshness: String
        var marks: String
        var detail: String
        /// What the chart tells who cannot see it.
        var chart: String
        /// Rows of the tape.
        var rows: Int
        /// Those of them that say something instead of a trade.
        var notes: [String]
        var figures: [String: String]
    }

    private struct Line: Decodable {
        var problem: String?
        var ended: Bool?
    }

    /// Where Debian and others put it; `nil` when there is none.
    static var chromium: String? {
        ["chromium", "chromium-browser", "google-chrome"].lazy.map { "/usr/bin/\($0)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    let program: RunningProgram
    /// Lines that were printed already, the next one last, and how many came out of here.
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

    /// The next line, or `nil` when the browser has ended or says nothing.
    func line(atMost limit: Duration = .seconds(60)) async -> String? {
        if self.waiting.isEmpty {
            // Asked for all at once: some pages have much to say.
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

    /// The next moment, from where the last look ended, at which the page showed such a thing.
    ///
    /// - Parameter limit: for how long it is looked for, however much else the page shows.
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

    /// What went wrong in the browser so far.
    var problems: [String] {
        self.program.output.split(separator: "\n").compactMap {
            (try? JSONDecoder().decode(Line.self, from: Data($0.utf8)))?.problem
        }
    }

    /// Ends the browser and returns whether it ended well.
    func end() async -> Bool {
        self.program.send(signal: SIGTERM)
        return await self.program.ending() == .exit(0)
    }
}
