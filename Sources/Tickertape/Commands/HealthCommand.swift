import ArgumentParser

/// The command that asks a running program's relay whether it is alive, for container health checks.
struct HealthCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Ask the relay on this machine whether it lives; exit status 0 when it does.",
        shouldDisplay: false
    )

    @OptionGroup var relay: RelayOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.relay, self.common] }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        guard let probe = HealthProbe(settings) else {
            Console.print("nothing to ask: the relay is off")
            return
        }
        do throws(HealthProbe.Failure) {
            Console.print(try await probe.statusLine())
        } catch {
            throw OperatorError("the relay at \(probe.place) \(error.reason)", status: .failure)
        }
    }
}
