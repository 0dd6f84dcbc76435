import ArgumentParser
import Market

/// A word in the place of a command that is none: told with the command that was probably meant.
///
/// Without a command it is `run` that complains of an unexpected argument, and its help names no commands.
enum MistypedCommand {
    /// Says so, in one line; `nil` where the words begin with commands that there are.
    static func words(of arguments: [String], in root: any ParsableCommand.Type) -> String? {
        var path = [root._commandName]
        var command = root
        for argument in arguments {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return nil }
            if let next = subcommands.first(where: { Self.names(of: $0).contains(argument) }) {
                command = next
                path.append(argument)
                continue
            }
            let hint =
                argument.nearest(in: subcommands.map { $0._commandName }).map { "did you mean \($0)?" }
                ?? "`\(path.joined(separator: " ")) --help` lists them"
            return "\(path.joined(separator: " ")) has no command \"\(argument.prefix(64))\"; \(hint)"
        }
        return nil
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }
}
