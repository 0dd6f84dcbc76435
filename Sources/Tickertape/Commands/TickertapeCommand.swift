import ArgumentParser
import Glibc
import Market

/// The root command, and the program's entry and exit.
struct TickertapeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tickertape",
        abstract: "Live crypto prices from Finnhub: in the terminal, and relayed to programs on this machine.",
        discussion: """
            Finnhub allows one connection per API key. tickertape makes that one connection, shows the prices, and \
            passes them on to any number of local WebSocket clients on ws://127.0.0.1:8080/ (Finnhub's own protocol) \
            and ws://127.0.0.1:8080/v1/stream (prices at a readable pace or every trade, with what is known of the feed), \
            and shows them on a page at http://127.0.0.1:8080/.

            EXAMPLES:
              tickertape                               the bundled recording, no key
              FINNHUB_TOKEN=... tickertape             BINANCE:BTCUSDT, live
              tickertape --token-file key --symbol BINANCE:ETHUSDT
              tickertape --format json --relay off     one line a price, no relay
              tickertape --once --fields symbol,price  one fresh price
              tickertape watch                         another display, same relay
              tickertape symbols bitcoin               find a symbol by name
              tickertape record btc.jsonl              keep what Finnhub sends
              tickertape replay btc.jsonl --speed 10   live it again, ten times faster
              tickertape export btc.jsonl --csv        its trades, or its bars, as a table
              tickertape audit btc.jsonl own.jsonl     what of an exchange's trades Finnhub sent
              tickertape history info                  what is kept of earlier runs
              tickertape simulate                      a made-up market, no key, for demos and load
              tickertape cert                          a certificate, for wss://
              tickertape config                        every setting and its origin
              tickertape doctor                        what is wrong here, and the cure
              tickertape status --since 22:00          was it live all night?
              tickertape cluster                       the members of a cluster of several machines

            SETTINGS: flags win over the environment, the environment over the config file, and that over the \
            defaults. The config file is the one named by --config or TICKERTAPE_CONFIG, or else \
            $XDG_CONFIG_HOME/tickertape/config.yaml, ~/.config/tickertape/config.yaml or \
            /etc/tickertape/config.yaml. A setting `upstream.url` is TICKERTAPE_UPSTREAM_URL in the environment and \
            `--set upstream.url=VALUE` on the command line. The key comes from FINNHUB_TOKEN, from a file \
            (--token-file) or from the config file, never from the command line, which every user of a machine can \
            see.

            STOPPING: q in the display, Ctrl-C or SIGTERM; a second one does not wait for the relay's clients.

            EXIT STATUS: 0 stopped as requested, or the reader of the output has gone; 1 failed, 2 doctor found a failure, 3 --once and no fresh price, 64 the command line is wrong, 69 the relay's address is in use, \
            77 Finnhub does not accept the key, 78 a setting in the environment or in the config file is wrong, or --once and no key.
            """,
        version: "tickertape \(tickertapeVersion)",
        subcommands: [
            RunCommand.self, WatchCommand.self, SymbolsCommand.self, NewsCommand.self, RecordCommand.self,
            ReplayCommand.self, SimulateCommand.self, ServeCommand.self, RecordingCommand.self, ExportCommand.self,
            AuditCommand.self, HistoryCommand.self, CertCommand.self,
            ConfigCommand.self, DoctorCommand.self, StatusCommand.self, ClusterCommand.self,
            HealthCommand.self,
        ],
        defaultSubcommand: RunCommand.self
    )

    /// Runs the command, and turns an error into one line and an exit status.
    static func main() async {
        do {
            var command = try await self.asyncParseAsRoot(nil)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            if let reason = Console.failure {
                throw OperatorError("cannot write the output: \(reason)", status: .failure)
            }
            await Console.flushErrors()
        } catch let error as OperatorError {
            await self.end(error.status.rawValue) {
                Console.printError(KeyLikeness.withheld("\(error)"), level: .error)
            }
        } catch {
            let status = self.exitCode(for: error)
            // Help and the version are no errors. A message about arguments must not repeat a key among them.
            if status.isSuccess { self.exit(withError: error) }
            await self.end(status.rawValue) {
                if let words = MistypedCommand.words(of: Array(CommandLine.arguments.dropFirst()), in: self) {
                    Console.printError(KeyLikeness.withheld(words), level: .error)
                } else {
                    Console.printError(lines: KeyLikeness.withheld(Self.withoutLineEnds(self.fullMessage(for: error))))
                }
            }
        }
    }

    /// Ends the program after its last message, which goes into the queue while standard error is read.
    private static func end(_ status: Int32, lastWords: () -> Void) async -> Never {
        let isRead = await Console.flushErrors()
        lastWords()
        if isRead { await Console.flushErrors() }
        Glibc.exit(status)
    }

    /// Returns a message of several lines, in which the line ends of quoted arguments are escaped.
    private static func withoutLineEnds(_ message: String) -> String {
        var message = message
        for argument in CommandLine.arguments.dropFirst() {
            for part in [argument[...]] + argument.split(separator: "=", maxSplits: 1).dropFirst()
            where part.contains(where: \.isNewline) {
                message = message.replacing(part, with: PrintableText.line(part))
            }
        }
        return message
    }
}
