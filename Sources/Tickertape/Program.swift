import Dispatch
import Glibc
import NIOCore
import Relay
import TLS

/// Where the program begins.
@main
enum Program {
    /// Looks at what the program was started with, and then runs the command.
    ///
    /// Not `async`: Swift's tasks and the event loops open files of their own, and trap where they may not. So the limit is
    /// looked at before there is a task.
    static func main() {
        StandardDescriptors.fill()
        LocalTime.readZone()
        OpenSSLCleanup.disable()
        // Each loop opens three files, and one for each processor is more than the errands need that they are for.
        NIOSingletons.groupLoopCountSuggestion = 1
        if let words = self.shortage(limit: DescriptorBudget.raise(to: DescriptorBudget.minimumOfAll)) {
            Console.complain(words)
            exit(ExitStatus.failure.rawValue)
        }
        Task { @MainActor in
            await Tickertape.main()
            exit(ExitStatus.success.rawValue)
        }
        dispatchMain()
    }

    /// What is wrong with a limit of open files, and what to do about it, in one line; `nil` where it is enough or not known.
    static func shortage(limit: Int?) -> String? {
        guard let limit, limit < DescriptorBudget.minimumOfAll else { return nil }
        return
            "the limit of open files is \(limit), and \(DescriptorBudget.minimumOfAll) are needed: raise it (ulimit -n 1024; "
            + "LimitNOFILE= for a service of systemd, --ulimit nofile=1024 for a container)"
    }
}
