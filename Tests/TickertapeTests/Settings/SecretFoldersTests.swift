import Alerts
import TLS
import Testing
@testable import Tickertape

@Suite("The folders of secrets")
struct SecretFoldersTests {
    private let folder = ScratchFolder()

    private func load(_ environment: [String: String], _ flags: GivenFlags = GivenFlags()) throws -> LoadedSettings {
        let usual = ["XDG_CONFIG_HOME": "/nonexistent", "TICKERTAPE_SECRETS_DIRECTORY": self.folder.path]
        return try Settings.load(flags: flags, environment: usual.merging(environment) { $1 })
    }

    @Test("every secret is found by its name, and a variable wins over it")
    func all() throws {
        let token = self.folder.file("finnhub-token", "c0ffee\n")
        _ = self.folder.file("relay-token", "0123456789abcdef\n")
        _ = self.folder.file("alerts-webhook", "https://hook.example/secret\n")
        _ = self.folder.file("upstream-proxy", "http://us3r:s3cr3t@proxy.test:3128\n")
        let loaded = try self.load([:])
        #expect(loaded.settings.token == Secret("c0ffee"))
        #expect(loaded.settings.origin(of: "token") == .file(token))
        #expect(loaded.settings.relayToken == Secret("0123456789abcdef"))
        #expect(try loaded.settings.webhookAddress() == WebhookAddress("https://hook.example/secret"))
        #expect(Setting.upstreamProxy.write(loaded.settings).contains("proxy.test:3128"))
        #expect(loaded.warnings.isEmpty, "\(loaded.warnings)")
        #expect(try self.load(["FINNHUB_TOKEN": "tea"]).settings.token == Secret("tea"))
    }

    @Test("a file that others can read is warned of with its cure, and a wrong one is not repeated")
    func open() throws {
        let token = self.folder.file("finnhub-token", "c0ffee\n", mode: 0o644)
        #expect(
            try self.load([:]).warnings == ["\(token) holds the API key and others can read it; run chmod 600 \(token)"]
        )
        _ = self.folder.file("finnhub-token", "c0ffee and more\n")
        let error = #expect(throws: OperatorError.self) { try self.load([:]) }
        #expect(
            error?.message.hasPrefix("finnhub-token (from secrets.directory): ") == true,
            "\(String(describing: error))"
        )
        #expect(error?.message.contains("c0ffee") == false)
    }

    @Test("a folder that is not there ends the program with 78")
    func missing() {
        let error = #expect(throws: OperatorError.self) {
            try self.load(["TICKERTAPE_SECRETS_DIRECTORY": "/nonexistent/secrets"])
        }
        #expect(error?.status == .configuration)
    }
}
