import ArgumentParser
import Feeds
import Market
import Wire

/// The command that prints the newest headlines.
struct NewsCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "news",
        abstract: "Print Finnhub's newest headlines about crypto currencies.",
        discussion: """
            Needs a key. The newest comes first. Every word must occur in the headline or its summary.

            EXAMPLES:
              tickertape news bitcoin etf
              tickertape news --publisher Reuters --format json

            EXIT STATUS: 0 when there are some; 1 when there are none, or the service could not be asked; 77 when it does \
            not accept the key.
            """
    )

    @Argument(help: ArgumentHelp("What to look for; nothing prints all.", valueName: "text"))
    var words: [String] = []

    @Option(help: ArgumentHelp("Only the headlines of this publisher.", valueName: "name"))
    var publisher: String?

    @Option(help: ArgumentHelp("The most headlines to print.", valueName: "n"))
    var limit = 20

    @Option(help: ArgumentHelp("plain, json (an object a line) or csv.", valueName: "format"))
    var format = ListFormat.plain

    @OptionGroup(title: "The service") var service: ServiceOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.service, self.common] }

    func validate() throws {
        guard (1...10_000).contains(self.limit) else { throw ValidationError("--limit is a number from 1 to 10000.") }
    }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        guard settings.token != nil else { throw OperatorError(.noKey) }
        let lookup = try ServiceLookup(settings)
        if let warning = lookup.warning { Console.printError("warning: \(warning)") }
        let query = DirectoryQuery(
            publisher: self.publisher,
            text: self.words.joined(separator: " "),
            limit: self.limit
        )
        let found = try await lookup.directory.headlines(query).mapError { OperatorError($0) }.get()
        guard !found.headlines.isEmpty else {
            let known = found.publishers.prefix(40).joined(separator: ", ")
            let nothing =
                known.isEmpty
                ? "the service has no headlines about crypto currencies now"
                : "no headline fits; the publishers are \(known)"
            throw OperatorError(nothing, status: .failure)
        }
        var list = PrintedList(columns: ["time", "source", "headline", "url"])
        list.rows = found.headlines.map { headline in
            [
                .text(UTCText.timestamp(headline.time)), .text(headline.publisher), .text(headline.text),
                .text(headline.url),
            ]
        }
        list.print(self.format)
    }
}
