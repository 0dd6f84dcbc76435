import ArgumentParser
import Feeds
import Market

/// The command that prints the newest headlines.
struct NewsCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "news",
        abstract: "Print Finnhub's newest headlines about crypto currencies.",
        discussion: """
            Needs a key. The newest comes first.

            EXIT STATUS: 0 when there are some; 1 when there are none, or the service could not be asked; 77 when it does \
            not accept the key.
            """
    )

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
        let headlines = try await lookup.headlines.latest().mapError { OperatorError($0) }.get()
        var list = PrintedList(columns: ["time", "source", "headline", "url"])
        list.rows = headlines.prefix(self.limit).map { headline in
            [
                .text(UTCText.timestamp(headline.time)), .text(headline.source), .text(headline.text),
                .text(headline.url),
            ]
        }
        list.print(self.format)
    }
}
