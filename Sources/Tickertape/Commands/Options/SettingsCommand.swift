import ArgumentParser
import Glibc

/// A command that needs the settings.
protocol SettingsCommand: AsyncParsableCommand {
    /// The command's groups of flags.
    var groups: [any SettingFlags] { get }
    /// The settings on the command line.
    var givenFlags: GivenFlags { get }
}

extension SettingsCommand {
    /// The settings on the command line.
    var givenFlags: GivenFlags {
        var flags = GivenFlags()
        for group in self.groups { group.add(to: &flags) }
        return flags
    }

    /// Loads the settings in force, and prints the warnings about them.
    func loadSettings() throws(OperatorError) -> LoadedSettings {
        let loaded = try Settings.load(flags: self.givenFlags, environment: Self.environment())
        if loaded.settings.token != nil || loaded.settings.alerts.webhook != nil { ProcessSecrecy.forbidCoreDumps() }
        let isJournal = LogForm.isJournal(STDERR_FILENO, stream: ProcessEnvironment.current.variable("JOURNAL_STREAM"))
        let log = loaded.settings.log
        Console.setLog(LogForm(log.format, isJournal: isJournal), repeats: log.repeats)
        for warning in loaded.warnings { Console.printError("warning: \(warning)") }
        return loaded
    }

    /// Returns the process's environment, and wipes the secrets from the original.
    static func environment() -> [String: String] {
        var variables: [String: String] = [:]
        for entry in ProcessEnvironment.entries() {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            for secret in Setting.all where secret.isSecret {
                ProcessSecrecy.wipe(entry, behind: secret.environment)
            }
        }
        return variables
    }
}
