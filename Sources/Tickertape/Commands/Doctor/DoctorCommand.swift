import ArgumentParser
import Market

/// The command that checks everything that the program needs, and names a cure for what it does not find.
struct DoctorCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the clock, the network, the key, the machine and the files, and name the cures.",
        discussion: """
            One line a check: its state (ok, note, warning, failure), its name, what was measured, and the cure. Takes the \
            flags of `run`, so that `tickertape doctor FLAGS` checks what `tickertape FLAGS` would need. Ends within 20 s. \
            Without --connect it sends no key and makes no attempt that Finnhub counts. If a tickertape with the key \
            runs, its relay is asked, and no second connection is made.

            EXIT STATUS: 0 nothing has to be done, 1 there are warnings, 2 there are failures.

            EXAMPLES:
              tickertape doctor
              tickertape doctor --connect --token-file key
              tickertape doctor --json | jq 'select(.state != "ok")'
            """
    )

    @OptionGroup(title: "The service") var feed: FeedOptions
    @OptionGroup(title: "Relay and recording") var relay: RelayOptions
    @OptionGroup(title: "Relay and recording") var record: RecordOptions
    @OptionGroup var common: CommonOptions

    @Flag(help: "Also connect with the key, and wait for a trade; Finnhub counts this attempt.")
    var connect = false

    @Flag(help: "One JSON object a line: check, state, measured, cure.")
    var json = false

    var groups: [any SettingFlags] { [self.feed, self.relay, self.record, self.common] }

    mutating func run() async throws {
        var checks: [DoctorCheck] = []
        let isJSON = self.json
        func print(_ check: DoctorCheck) {
            checks.append(check)
            if isJSON {
                Console.print(json: check.json)
            } else {
                Console.print(wrapped: check.line, indent: DoctorCheck.indent)
            }
        }
        let (loaded, checked) = self.load()
        for check in checked { print(check) }
        if let loaded {
            ProcessSecrecy.forbidCoreDumps()
            let doctor = Doctor(loaded, hasUnreadableSecret: checked.contains { $0.state == .failure })
            for check in await doctor.checks(connects: self.connect) { print(check) }
        }
        if let verdict = checks.verdict { throw verdict }
    }

    /// Loads the settings, if need be without the secrets, whose files are often what is wrong.
    private func load() -> (loaded: LoadedSettings?, checks: [DoctorCheck]) {
        let environment = Self.environment()
        let flags = self.givenFlags
        do throws(OperatorError) {
            let loaded = try Settings.load(flags: flags, environment: environment)
            let place = loaded.file.map { "the config file \($0)" } ?? "no config file"
            guard let first = loaded.warnings.first else { return (loaded, [DoctorCheck("settings", .ok, place)]) }
            let more = loaded.warnings.count > 1 ? " (and \(loaded.warnings.count - 1) more)" : ""
            return (
                loaded, [DoctorCheck("settings", .warning, "\(first)\(more)", cure: "`tickertape config` lists all")]
            )
        } catch {
            let cure = "correct it; `tickertape config` says whether it is right"
            guard let loaded = try? Settings.load(flags: flags, environment: environment, readsSecrets: false) else {
                let more = "; the other checks need the settings"
                return (nil, [DoctorCheck("settings", .failure, error.message, cure: cure + more)])
            }
            return (loaded, [DoctorCheck("settings", .failure, error.message, cure: cure)])
        }
    }
}
