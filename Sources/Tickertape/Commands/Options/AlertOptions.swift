import ArgumentParser

/// The flag for alert rules.
struct AlertOptions: ParsableArguments, SettingFlags {
    @Option(name: .of(.alertRules), help: .of(.alertRules, "rule"))
    var alerts: [String] = []

    func add(to flags: inout GivenFlags) {
        if !self.alerts.isEmpty { flags.add(.alertRules, self.alerts, flag: "--alert") }
    }
}
