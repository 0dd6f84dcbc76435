import ArgumentParser
import NIOCore
import Recordings

/// Looks after recordings.
struct RecordingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recording",
        abstract: "Check, describe, repair, cut and merge recordings.",
        discussion: """
            Reads files of `tickertape record` of every version, compressed (.zst) or not, and the plain form (JSON Lines \
            with "at" and "frame"). New files are never made over old ones.

            EXAMPLES:
              tickertape recording verify btc.jsonl btc-0002.jsonl.zst
              tickertape recording info --json btc.jsonl
              tickertape recording repair btc.jsonl whole.jsonl
              tickertape recording cut --from 2026-11-21T05:30:00Z --to 2026-11-21T06:00:00Z btc.jsonl half-hour.jsonl
              tickertape recording merge btc.jsonl eth.jsonl both.jsonl
            """,
        subcommands: [
            RecordingVerifyCommand.self, RecordingInfoCommand.self, RecordingRepairCommand.self,
            RecordingCutCommand.self, RecordingMergeCommand.self,
        ]
    )
}

struct RecordingVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check every line of recordings.",
        discussion: """
            A torn line at the end is what a crash leaves: it is told with its place, and is no damage. Exit status 0 when \
            nothing is damaged, else 1.
            """
    )

    @Argument(help: ArgumentHelp("The recordings.", valueName: "file"), completion: .file())
    var files: [String]

    @Flag(help: "Print one JSON object a file.")
    var json = false

    mutating func run() async throws {
        try RecordingOffice.describe(self.files, asJSON: self.json, isCheck: true)
    }
}

struct RecordingInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Say what recordings hold: times, counts, gaps, trades of each symbol."
    )

    @Argument(help: ArgumentHelp("The recordings.", valueName: "file"), completion: .file())
    var files: [String]

    @Flag(help: "Print one JSON object a file.")
    var json = false

    mutating func run() async throws {
        try RecordingOffice.describe(self.files, asJSON: self.json, isCheck: false)
    }
}

/// What commands that make a new file have in common.
struct NewRecordingOptions: ParsableArguments {
    @Flag(help: "Write the plain form: JSON Lines with \"at\" and \"frame\" only, without gaps and events.")
    var plain = false

    var form: RecordingOutputFile.Form { self.plain ? .plain : .current }
}

struct RecordingRepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Write all that can be read of a damaged recording to a new file, which tells what is missing."
    )

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"), completion: .file())
    var file: String
    @Argument(help: ArgumentHelp("The new file.", valueName: "new-file"), completion: .file())
    var target: String
    @OptionGroup var options: NewRecordingOptions

    mutating func run() async throws {
        try RecordingOffice.make(self.target) { [self] () throws(RecordingFailure) in
            try RecordingEdits.repair(self.file, to: self.target, form: self.options.form)
        }
    }
}

struct RecordingCutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cut",
        abstract: "Write a part of a recording to a new file.",
        discussion: """
            Times are UTC, as 2026-11-21T05:30:00Z or with a fraction of a second, or since the recording's start, as 90s \
            or 1.5h. With --symbol, frames with a trade of one of the symbols are kept as they are.
            """
    )

    @Option(help: ArgumentHelp("The first moment.", valueName: "time"), transform: RecordingMoment.read)
    var from: RecordingMoment?
    @Option(help: ArgumentHelp("The moment behind the last.", valueName: "time"), transform: RecordingMoment.read)
    var to: RecordingMoment?
    @Option(
        name: .customLong("symbol"),
        help: ArgumentHelp("A symbol to keep; several may be given.", valueName: "symbol")
    )
    var symbols: [String] = []
    @Argument(help: ArgumentHelp("The recording.", valueName: "file"), completion: .file())
    var file: String
    @Argument(help: ArgumentHelp("The new file.", valueName: "new-file"), completion: .file())
    var target: String
    @OptionGroup var options: NewRecordingOptions

    mutating func run() async throws {
        try RecordingOffice.make(self.target) { [self] () throws(RecordingFailure) in
            let start = try RecordingMap(path: self.file).header?.start
            var cut = RecordingEdits.Cut()
            cut.from = try self.from?.wall(start: start)
            cut.to = try self.to?.wall(start: start)
            cut.symbols = Set(self.symbols)
            return try RecordingEdits.cut(self.file, cut, to: self.target, form: self.options.form)
        }
    }
}

struct RecordingMergeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Write several recordings to one new file, in the order of their wall clocks."
    )

    @Argument(
        help: ArgumentHelp("The recordings, and behind them the new file.", valueName: "file"),
        completion: .file()
    )
    var files: [String]
    @OptionGroup var options: NewRecordingOptions

    func validate() throws {
        guard self.files.count >= 2 else { throw ValidationError("Name the recordings, and behind them the new file.") }
    }

    mutating func run() async throws {
        let target = self.files[self.files.count - 1]
        try RecordingOffice.make(target) { [self] () throws(RecordingFailure) in
            try RecordingEdits.merge(Array(self.files.dropLast()), to: target, form: self.options.form)
        }
    }
}

/// A moment in a recording, as a person writes it.
package enum RecordingMoment: Sendable, Equatable {
    /// ns since 1970.
    case wall(Int64)
    /// ns since the recording's start.
    case sinceStart(Int64)

    @Sendable static func read(_ argument: String) throws -> RecordingMoment {
        guard let moment = RecordingMoment(argument) else {
            throw ValidationError(
                "\"\(argument)\" is no time; write it like 2026-11-21T05:30:00Z, or 90s since the start."
            )
        }
        return moment
    }

    package init?(_ text: String) {
        if let amount = try? Syntax<TimeAmount>.duration.read(text), amount >= .zero {
            self = .sinceStart(amount.nanoseconds)
            return
        }
        guard let wall = Self.clock(text) else { return nil }
        self = .wall(wall)
    }

    /// Reads `2026-11-21T05:30:00Z`, with up to nine digits of a second's fraction.
    private static func clock(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 30, bytes.last == UInt8(ascii: "Z") else { return nil }
        let form = Array("0000-00-00T00:00:00".utf8)
        var numbers = [Int64(0)]
        for (byte, expected) in zip(bytes, form) {
            if expected == UInt8(ascii: "0") {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int64(byte - UInt8(ascii: "0"))
            } else {
                guard byte == expected else { return nil }
                numbers.append(0)
            }
        }
        guard (1970...2261).contains(numbers[0]), (1...12).contains(numbers[1]), (1...31).contains(numbers[2]),
            numbers[3] < 24, numbers[4] < 60, numbers[5] < 61
        else { return nil }
        var fraction: Int64 = 0
        let tail = bytes[form.count..<bytes.count - 1]
        if let dot = tail.first {
            guard dot == UInt8(ascii: "."), tail.count > 1,
                tail.dropFirst().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { return nil }
            for place in 1...9 {
                let digit = place < tail.count ? tail[tail.startIndex + place] - UInt8(ascii: "0") : 0
                fraction = fraction * 10 + Int64(digit)
            }
        }
        // Days since 1970 by the Gregorian calendar, in years that begin in March, so that the leap day is last.
        let year = numbers[1] <= 2 ? numbers[0] - 1 : numbers[0]
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (numbers[1] + (numbers[1] > 2 ? -3 : 9)) + 2) / 5 + numbers[2] - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        let seconds = days * 86_400 + numbers[3] * 3_600 + numbers[4] * 60 + numbers[5]
        return seconds * 1_000_000_000 + fraction
    }

    /// The wall clock, ns since 1970, in a recording that began at `start`.
    func wall(start: Int64?) throws(RecordingFailure) -> Int64 {
        switch self {
        case .wall(let wall): return wall
        case .sinceStart(let nanoseconds):
            guard let start else { throw RecordingFailure("the recording does not say when it began") }
            let (sum, isOut) = start.addingReportingOverflow(nanoseconds)
            return isOut ? .max : sum
        }
    }
}
