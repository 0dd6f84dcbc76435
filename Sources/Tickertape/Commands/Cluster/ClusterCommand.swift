import ArgumentParser
import NATS

/// The command that shows the members of a cluster.
struct ClusterCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Show the members of the cluster: ingests, their lease, edges, lag and losses.",
        discussion: """
            Asks all members over NATS, by the settings cluster.name, cluster.servers and cluster.identity-file, and \
            prints what answers within half a second. LAG is the age of the newest frame or heartbeat up to which \
            nothing is missing. LOSSES counts requests for frames that were missed, frames that did not come at all, \
            gaps, and refused frames of an earlier ingest. CLOCK says how far the ingest's clock is ahead.

            EXIT STATUS: 0 an ingest publishes, 1 none does or NATS cannot be reached.

            EXAMPLES:
              tickertape cluster
              tickertape cluster --json --set cluster.servers=nats://nats.lan:4222
            """
    )

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var authority: AuthorityOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.authority, self.common] }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        let answers = try await ClusterQuestion.ask(settings, as: try settings.clusterIdentity())
        let overview = ClusterOverview(settings.cluster.name, answers)
        if self.json {
            Console.print(json: overview.json)
        } else {
            for line in overview.lines { Console.print(line) }
        }
        guard let complaint = overview.complaint else { return }
        let refusal = answers.refusal.map { "; NATS refuses something: \($0)" } ?? ""
        throw OperatorError("\(complaint)\(refusal)", status: .failure)
    }
}
