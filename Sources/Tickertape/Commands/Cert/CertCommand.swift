import ArgumentParser

/// The command that makes a certificate and a key for the relay on a local network.
struct CertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cert",
        abstract: "Make a self-signed certificate and its key, for a relay that speaks TLS (wss, https).",
        discussion: """
            Writes certificate.pem and key.pem, and prints what to put into the config file and into clients. The \
            certificate is good for localhost and for each --name; without any, for this machine's name and addresses \
            as they are now.

            EXAMPLES:
              tickertape cert
              tickertape cert --out /etc/tickertape --name ticker.local --name 192.168.1.7 --days 90
            """
    )

    @Option(help: ArgumentHelp("The folder to write to; it must exist.", valueName: "dir"), completion: .directory)
    var out = "."

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp("A host name or IP address that clients use; several may be given.", valueName: "name")
    )
    var names: [String] = []

    @Option(help: ArgumentHelp("How long it is valid; Apple's clients refuse more than 825 days.", valueName: "n"))
    var days = 365

    @Flag(help: "Replace existing files.")
    var force = false

    func validate() throws {
        guard (1...825).contains(self.days) else { throw ValidationError("--days is a number from 1 to 825.") }
        guard self.names.count <= 100 else { throw ValidationError("--name may be given 100 times at most.") }
        for name in self.names where MachineName(name) == nil {
            throw ValidationError("--name \(name): neither a host name (ticker.local) nor an IP address (192.168.1.7).")
        }
    }

    mutating func run() async throws {
        let given = self.names.compactMap(MachineName.init)
        let names = MachineName.ofLoopback + (given.isEmpty ? MachineName.ofThisMachine() : given)
        let certificate = try SelfSignedCertificate(for: names, days: self.days)
        let files = try certificate.write(to: self.out, replaces: self.force)
        for line in certificate.description(of: files) { Console.print(line) }
    }
}
