import ArgumentParser
import Feeds
import Wire

/// The command that finds symbols by the names that people use.
struct SymbolsCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "symbols",
        abstract: "Find symbols by ticker or by name, in Finnhub's list or in a recording.",
        discussion: """
            With a key it searches Finnhub's list of an exchange, which is asked for once a day and kept on disk; without \
            one, or with --recording, the symbols of a recording. Finnhub's list does not say what coins are called; the \
            names of some sixty well-known ones are known to this program.

            EXAMPLES:
              tickertape symbols bitcoin
              tickertape symbols sol eur --exchange COINBASE
              tickertape symbols --format csv --limit 1000

            EXIT STATUS: 0 when something was found; 1 when nothing was, or the service could not be asked; 77 when it \
            does not accept the key.
            """
    )

    @Argument(help: ArgumentHelp("What to look for; nothing lists all.", valueName: "text"))
    var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "The exchange whose symbols are searched; \(ServiceDirectory.usualExchange) without it.",
            valueName: "name"
        )
    )
    var exchange: String?

    @Option(help: ArgumentHelp("The most symbols to print.", valueName: "n"))
    var limit = 20

    @Option(help: ArgumentHelp("plain, json (an object a line) or csv.", valueName: "format"))
    var format = ListFormat.plain

    @Option(
        help: ArgumentHelp("Search the symbols of this recording.", valueName: "file"),
        completion: .file()
    )
    var recording: String?

    @OptionGroup(title: "The service") var service: ServiceOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.service, self.common] }

    func validate() throws {
        guard (1...100_000).contains(self.limit) else {
            throw ValidationError("--limit is a number from 1 to 100000.")
        }
        guard self.exchange.map({ (1...64).contains($0.utf8.count) }) ?? true else {
            throw ValidationError("--exchange is the name of an exchange, such as BINANCE.")
        }
    }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        let recorded = try self.recording.map { path throws(OperatorError) in
            try ServiceLookup.symbols(ofRecording: path, name: "the recording \(FilePath.last(of: path))")
        }
        let lookup = try ServiceLookup(settings, symbols: recorded)
        if let warning = lookup.warning { Console.printError("warning: \(warning)") }
        // One more than it prints, to find out whether there are more.
        let query = DirectoryQuery(
            publisher: self.exchange,
            text: self.words.joined(separator: " "),
            limit: self.limit + 1
        )
        switch await lookup.directory.symbols(query) {
        case .failure(let failure):
            throw OperatorError(failure)
        case .success(let found):
            guard !found.symbols.isEmpty else {
                throw OperatorError(found.remark ?? "nothing was found", status: .failure)
            }
            if let remark = found.remark { Console.printError(remark) }
            var list = PrintedList(columns: ["symbol", "displaySymbol", "description"])
            list.rows = found.symbols.prefix(self.limit).map {
                [.text($0.symbol), .text($0.displaySymbol), .text($0.description)]
            }
            list.print(self.format)
            if found.symbols.count > self.limit {
                Console.printError("these are the first \(self.limit); --limit prints more, and another word fewer")
            }
        }
    }
}

/// The flags for Finnhub's REST service.
struct ServiceOptions: ParsableArguments, SettingFlags {
    @Option(name: .of(.tokenFile), help: .of(.tokenFile, "file"), completion: .file())
    var tokenFile: String?

    @OptionGroup var authority: AuthorityOptions

    func add(to flags: inout GivenFlags) {
        flags.add(.tokenFile, self.tokenFile)
        self.authority.add(to: &flags)
    }
}

extension OperatorError {
    /// Makes an error from a service's failure, with the exit status for its kind.
    init(_ failure: ServiceFailure) {
        self.init(failure.description, status: failure.kind == .keyRejected ? .keyRejected : .failure)
    }
}
