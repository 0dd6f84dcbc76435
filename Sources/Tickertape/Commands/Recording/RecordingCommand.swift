import ArgumentParser
import NIOCore
import Recordings
import Wire

/// The commands for recordings.
struct RecordingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recording",
        abstract: "Check, describe, repair, cut and merge recordings.",
        discussion: """
            Reads files of `tickertape record`, compressed (.zst) or not, and the plain form (JSON Lines \
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

/// What recordings can be compared with.
enum ComparedSource: String, ExpressibleByArgument {
    case venue
}

struct RecordingVerifyCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check every line of recordings.",
        discussion: """
            A torn line at the end is what a crash leaves: its place is reported, and it does not count as damage. Of several files of \
            one run, those that are missing between them are reported too. Of trades with ids, each symbol and hour is \
            listed with what is missing and its SHA-256, and compared with the lines that the recorder wrote about it. Exit \
            status 0 when nothing is damaged, missing or different, else 1. With --against venue the exchange's REST service \
            is asked for the trades of each hour, within its limits, and compared.
            """
    )

    @OptionGroup var options: RecordingFilesOptions
    @Option(help: ArgumentHelp("Compare trades with ids with what their venue has today: venue.", valueName: "source"))
    var against: ComparedSource?
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.common] }

    mutating func run() async throws {
        var venue: VenueCheck?
        if self.against == .venue { venue = VenueCheck(settings: try self.loadSettings().settings) }
        try await self.options.describe(isCheck: true, against: venue)
    }
}

struct RecordingInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show what recordings hold: times, counts, gaps, trades of each symbol."
    )

    @OptionGroup var options: RecordingFilesOptions

    mutating func run() async throws {
        try await self.options.describe(isCheck: false)
    }
}

struct RecordingRepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Write all that can be read of a damaged recording to a new file, which records what is missing."
    )

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"), completion: .file())
    var file: String
    @Argument(help: ArgumentHelp("The new file.", valueName: "new-file"), completion: .file())
    var target: String
    @OptionGroup var options: NewRecordingOptions

    mutating func run() async throws {
        try self.options.write(self.target) { [self] () throws(RecordingFailure) in
            try RecordingEdits.repair(self.file, to: self.target, form: self.options.form)
        }
        let followers = (try? RecordingStream(path: self.file))?.segments.dropFirst().map(\.path) ?? []
        if !followers.isEmpty { Console.print(SystemErrorText.continuation(of: self.file, in: followers)) }
    }
}

struct RecordingCutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cut",
        abstract: "Write a part of a recording to a new file.",
        discussion: """
            Times are those of `replay --from`, in UTC: 90s since the recording's start, 50%, 14:30:00, 2026-11-21T05:30:00Z, \
            2026-11-21. The files in which the recording goes on are read, too. With --symbol, frames with a trade of one of \
            the symbols are kept as they are.
            """
    )

    @Option(help: ArgumentHelp("The first moment.", valueName: "time"), transform: RecordingTime.read)
    var from: RecordingTime?
    @Option(help: ArgumentHelp("The moment after the last.", valueName: "time"), transform: RecordingTime.read)
    var to: RecordingTime?
    @Option(
        name: .customLong("symbol"),
        help: ArgumentHelp("A symbol to keep; several may be given.", valueName: "symbol")
    )
    var symbols: [String] = []
    @Option(
        help: ArgumentHelp(
            "The service whose messages to keep, by their dialect: finnhub, tickertape, binance, coinbase or kraken.",
            valueName: "dialect"
        ),
        transform: Self.dialect
    )
    var dialect: FrameDialect?
    @Argument(help: ArgumentHelp("The recording.", valueName: "file"), completion: .file())
    var file: String
    @Argument(help: ArgumentHelp("The new file.", valueName: "new-file"), completion: .file())
    var target: String
    @OptionGroup var options: NewRecordingOptions

    mutating func run() async throws {
        try self.options.write(self.target) { [self] () throws(RecordingFailure) in
            var cut = RecordingEdits.Cut()
            cut.from = try self.from?.wall(in: self.file)
            cut.to = try self.to?.wall(in: self.file)
            if self.from != nil || self.to != nil { cut.likelyStart = try RecordingTime.likelyStart(of: self.file) }
            cut.symbols = Set(self.symbols)
            cut.dialect = self.dialect
            return try RecordingEdits.cut(
                self.file,
                cut,
                to: self.target,
                form: self.options.form,
                naming: RecordedSymbols.list
            )
        }
    }

    private static func dialect(_ name: String) throws -> FrameDialect {
        if let dialect = FrameDialect(name: name) { return dialect }
        let names = FrameDialect.allCases.map { "\($0.name)" }.joined(separator: " or ")
        throw ValidationError("there is no dialect \(name): \(names)")
    }
}

struct RecordingMergeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Write several recordings to one new file, in the order of their wall clocks."
    )

    @Argument(
        help: ArgumentHelp("The recordings, then the new file.", valueName: "file"),
        completion: .file()
    )
    var files: [String]
    @OptionGroup var options: NewRecordingOptions

    func validate() throws {
        guard self.files.count >= 2 else { throw ValidationError("Name the recordings, then the new file.") }
    }

    mutating func run() async throws {
        let target = self.files[self.files.count - 1]
        try self.options.write(target) { [self] () throws(RecordingFailure) in
            try RecordingEdits.merge(Array(self.files.dropLast()), to: target, form: self.options.form)
        }
    }
}
