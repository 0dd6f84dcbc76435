import ArgumentParser
import NIOCore

/// The commands that show the history of earlier runs and remove old parts of it.
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show what is kept of earlier runs, or remove what is old.",
        discussion: """
            While recording, bars and an index of the recordings are kept in tickertape-history.sqlite beside them \
            (history.file). Both commands may be used while a program records.
            """,
        subcommands: [HistoryInfoCommand.self, HistoryPruneCommand.self]
    )
}

/// The option for the database of a command.
struct HistoryPlaceOptions: ParsableArguments {
    @Option(
        name: .customLong("file"),
        help: ArgumentHelp(
            "The database; otherwise that of history.file, or the one in the folder of record.directory.",
            valueName: "file"
        ),
        completion: .file()
    )
    var file: String?

    /// Returns the path from the flag or the settings.
    func path(_ settings: Settings) throws(OperatorError) -> String {
        if let file { return file }
        if settings.history.file == "off" {
            throw OperatorError("history.file is off; name the database with --file", status: .usage)
        }
        if settings.history.file != "auto" { return settings.history.file }
        let beside = settings.record.file ?? "\(settings.record.directory)/any"
        return FilePath.beside(beside, HistoryPlace.name)
    }
}

/// The command that describes the history.
struct HistoryInfoCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show how much is kept, and since when."
    )

    @OptionGroup var place: HistoryPlaceOptions
    @OptionGroup var common: CommonOptions

    @Flag(help: "One JSON object.")
    var json = false

    var groups: [any SettingFlags] { [self.common] }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        let report = try HistoryReport(self.place.path(settings))
        if self.json { return Console.print(json: report.json) }
        for line in report.lines { Console.print(line) }
    }
}

/// The command that removes old parts of the history.
struct HistoryPruneCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove bars and recordings that are older than this.",
        discussion: """
            Deletes recording files whose last frame is older, and the bars that ended before. A recording that a program \
            still writes is never deleted.

            EXAMPLES:
              tickertape history prune --older-than 30d
              tickertape history prune --older-than 12h --keep-recordings
            """
    )

    @OptionGroup var place: HistoryPlaceOptions
    @OptionGroup var common: CommonOptions

    @Option(
        name: .customLong("older-than"),
        help: ArgumentHelp("The age: 30d, 12h, 90m.", valueName: "age"),
        transform: Self.age
    )
    var age: Int64

    @Flag(name: .customLong("keep-recordings"), help: "Delete only bars, no recording.")
    var keepsRecordings = false

    var groups: [any SettingFlags] { [self.common] }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        let pruning = HistoryPruning(
            path: try self.place.path(settings),
            age: self.age,
            keepsRecordings: self.keepsRecordings,
            liesApart: self.place.file == nil && settings.history.file != "auto"
        )
        for line in try pruning.run(now: WallClock.now()) { Console.print(line) }
    }

    /// Parses an age, in ns: a whole number of days, or a duration.
    @Sendable private static func age(_ text: String) throws -> Int64 {
        if text.hasSuffix("d"), let days = Int(digits: text.dropLast()), (1...36_500).contains(days) {
            return Int64(days) * 86_400_000_000_000
        }
        guard !text.hasSuffix("d"), let read = try? Syntax<TimeAmount>.duration.read(text),
            read.nanoseconds >= 60_000_000_000
        else { throw ValidationError("an age is 30d, 12h or 90m, a minute at least") }
        return read.nanoseconds
    }
}
