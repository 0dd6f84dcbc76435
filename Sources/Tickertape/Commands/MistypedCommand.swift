import ArgumentParser
import Market

/// The message about an unknown command, with the command that was probably meant.
///
/// Without it, `run` would report an unexpected argument, and its help lists no commands.
enum MistypedCommand {
    /// Returns the message, in one line; `nil` if the first words are known commands.
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
