import Relay
import ArgumentParser
import TLS

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
        let relay = settings.relay
        let endpoint = relay.listen.map { HealthProbe.Place.endpoint($0.fromHere) }
        guard let place = endpoint ?? relay.unixSocket.map(HealthProbe.Place.file) else {
            Console.print("nothing to ask: the relay is off")
            return
        }
        // The relay speaks no TLS on a Unix socket.
        var ciphers: TLSCipherList?
        if case .endpoint = place, settings.relayFiles.certificate != nil { ciphers = settings.dial.tls.ciphers }
        do throws(HealthProbe.Failure) {
            let probe = HealthProbe(place: place, ciphers: ciphers, limit: .seconds(3))
            Console.print(try await probe.statusLine())
        } catch {
            throw OperatorError("the relay at \(place) \(error.reason)", status: .failure)
        }
    }
}
