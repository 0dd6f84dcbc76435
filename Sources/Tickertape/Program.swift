import Dispatch
import Glibc
import NIOCore
import Relay
import TLS

/// The program's entry point.
@main
enum Program {
    /// Prepares the process, and then runs the command.
    ///
    /// The function is not `async`: Swift's tasks and the event loops open files of their own, and trap if they cannot.
    /// The limit of open files must therefore be checked before the first task starts.
    static func main() {
        StandardDescriptors.fill()
        SignalHandling.passOverClicks()
        LocalTime.readZone()
        OpenSSLCleanup.disable()
        // Each loop of NIO's shared group opens three files, and the few jobs on that group need one loop only.
        NIOSingletons.groupLoopCountSuggestion = 1
        if let words = self.shortage(limit: DescriptorBudget.raise(to: DescriptorBudget.minimumOfAll)) {
            Console.printError(words)
            exit(ExitStatus.failure.rawValue)
        }
        Task { @MainActor in
            await TickertapeCommand.main()
            exit(ExitStatus.success.rawValue)
        }
        dispatchMain()
    }

    /// Returns one line about a limit of open files that is too low, with a hint; `nil` if the limit suffices or is
    /// unknown.
    static func shortage(limit: Int?) -> String? {
        guard let limit, limit < DescriptorBudget.minimumOfAll else { return nil }
        return
            "the limit of open files is \(limit), and \(DescriptorBudget.minimumOfAll) are needed: raise it (ulimit -n 1024; "
            + "LimitNOFILE= for a service of systemd, --ulimit nofile=1024 for a container)"
    }
}
