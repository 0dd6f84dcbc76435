import TLS
import Testing
import Wire

@testable import NATS

/// Seeds made from the SHA-256 of the words user, account and operator, with the public keys and signatures of Python's
/// nkeys 0.2.1.
enum NKeySample {
    static let nonce = "PXoWU7zWAMt75FY"
    static let user = "SUAAJ6EZNWTWHN5JNGYQFDXDAB2WT2XTUY2UQ3O2WII5KEWILOO7R67BBI"
    static let userPublic = "UAS62RY6CAN6P7LMPDOANFJSHJDQ6ZHATPC7JYB5USBTQTMORNS7PLLM"
    static let userSignature = "ehrBaIPSYRZ5ztmaVtYp2OJdYIesMvpw-SzuSx6A6rBdsLFyic2kXHAsbodACM2HYJJWzJEPHsWpSz5Pb9xcAg"
    static let account = "SAAJV4QRGKNS7SBOL37JAYDCY4YAQKAZWI76QOKLYQ26BMN7ARMOWVBMLI"
    static let accountPublic = "ACR7MCCLE75RFW4ZPDXBBLAENDOAFC4YS3LOXGLZ5JOKDH2LKJAPC4WH"
    static let accountSignature =
        "RX8m-pgNYdCKzFUXOiXuWufbnffrScSZVwrosF4XPxizAG7YlLJS4d3R2IRHJYS8fsNS1jr8BAT6sFg7Z9fvAA"
    static let operators = "SOAANZK3MM2ID553A4UVP2V46EIMS4XIM2I4HT7NVPQIQASL77SC6I3ROQ"
    static let operatorsPublic = "ODHHEG4ST56ITJ6Z427WGZTD3AQNWLJDSMGB7DSUOZJN77CUTZ44ZFZW"
    static let operatorsSignature =
        "cz_N23gtQswkvN3kW4be-MLGQxhttZCir6pXIPkA8mbcCoIi61SKukMuMTW0ouN64K_4mN0kNViHVfqlfrUlAw"

    /// The text of a credentials file as `nsc` writes it, with a JWT for the user of this public key.
    static func credentials(of user: String = userPublic, seed: String = user) -> String {
        let claims = #"{"jti":"X","iat":1,"sub":"\#(user)","nats":{"type":"user","pub":{}}}"#
        let body = Base64.text(Array(claims.utf8), as: .url)
        return """
            -----BEGIN NATS USER JWT-----
            eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.\(body).c2ln
            ------END NATS USER JWT------

            ************************* IMPORTANT *************************
            NKEY Seed printed below can be used to sign and prove identity.
            NKEYs are sensitive and should be treated as secrets.

            -----BEGIN USER NKEY SEED-----
            \(seed)
            ------END USER NKEY SEED------

            *************************************************************

            """
    }
}

@Suite struct NKeyTests {
    @Test(
        "has the public key and the signature of another implementation",
        arguments: [
            (NKeySample.user, NKey.Kind.user, NKeySample.userPublic, NKeySample.userSignature),
            (NKeySample.account, .account, NKeySample.accountPublic, NKeySample.accountSignature),
            (NKeySample.operators, .operators, NKeySample.operatorsPublic, NKeySample.operatorsSignature),
        ]
    )
    func known(seed: String, kind: NKey.Kind, publicText: String, signature: String) throws {
        let key = try NKey(seed: Secret("\n \(seed)\r\n"))
        #expect(key.kind == kind && key.publicText == publicText)
        #expect(key.signature(of: NKeySample.nonce) == signature)
        // A client takes a user's only.
        if kind == .user {
            #expect(try NKey(user: Secret(seed)) == key)
        } else {
            #expect(throws: NKeyFailure.notUser) { try NKey(user: Secret(seed)) }
        }
    }

    @Test("says what is wrong with a seed, without a part of it")
    func refused() {
        let seed = NKeySample.user
        for (text, failure) in [
            ("", NKeyFailure.wrongLength), (NKeySample.userPublic, .notSeed), (seed.lowercased(), .notBase32),
            (String(seed.dropLast()), .wrongChecksum), (seed + "AA", .wrongChecksum),
            ("1" + seed.dropFirst(), .notBase32),
            ("SUAB" + seed.dropFirst(4), .wrongChecksum), (seed + " " + seed, .notBase32), ("SU", .wrongLength),
        ] {
            #expect(throws: failure) { try NKey(seed: Secret(text)) }
            #expect(!"\(failure)".contains("SUA") && "\(failure)".contains(": "))
        }
        // Each changed character is found by the checksum.
        for place in seed.indices {
            let other: Character = seed[place] == "Q" ? "R" : "Q"
            let changed = String(seed[..<place]) + String(other) + String(seed[seed.index(after: place)...])
            #expect(throws: NKeyFailure.self, "\(changed)") { try NKey(seed: Secret(changed)) }
        }
        // A right checksum is not enough.
        let short = NKeyText.text([144 | 160 >> 5, 0, 1, 2, 3])
        #expect(throws: NKeyFailure.wrongLength) { try NKey(seed: Secret(short)) }
        let stranger = NKeyText.text([144 | 7, 0xF8] + [UInt8](repeating: 1, count: 32))
        #expect(throws: NKeyFailure.notSeed) { try NKey(seed: Secret(stranger)) }
    }

    @Test("shows its public key and nothing of the seed")
    func secrecy() throws {
        let key = try NKey(seed: Secret(NKeySample.user))
        let identity = NATSIdentity.credentials(try NATSCredentials(file: Secret(NKeySample.credentials())))
        for value: Any in [key, identity, NATSIdentity.key(key), NATSIdentity.user("u", password: Secret("pw-1"))] {
            var text = "\(value) \(String(reflecting: value))"
            dump(value, to: &text)
            #expect(!text.contains(NKeySample.user.dropFirst(2)) && !text.contains("eyJ0") && !text.contains("pw-1"))
        }
    }
}

@Suite struct NATSCredentialsTests {
    @Test("are read from the file that nsc writes, with either line end")
    func read() throws {
        let text = NKeySample.credentials()
        let jwt = text.split(separator: "\n")[1]
        for file in [text, text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")] {
            let credentials = try NATSCredentials(file: Secret(file))
            #expect(credentials.jwt == Secret(String(jwt)))
            #expect(credentials.key.publicText == NKeySample.userPublic)
        }
        let identity = NATSIdentity.credentials(try NATSCredentials(file: Secret(text)))
        #expect(
            identity.proof(nonce: NKeySample.nonce)
                == .jwt(Secret(String(jwt)), signature: NKeySample.userSignature)
        )
        #expect(identity.proof(nonce: nil) == nil)
    }

    @Test("say what is missing or damaged")
    func refused() {
        let text = NKeySample.credentials()
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (file, failure) in [
            ("", CredentialsFailure.noJWT), (lines[3...].joined(separator: "\n"), .noJWT),
            (lines[..<8].joined(separator: "\n"), .noSeed), (lines[..<10].joined(separator: "\n"), .noSeed),
            // Without its line ends, as from a variable of a shell.
            (text.replacing("\n", with: " "), .noJWT), (text.replacing("\n", with: ""), .noJWT),
            (
                "-----BEGIN NATS USER JWT-----\nx\n------END NATS USER JWT------\n"
                    + "-----BEGIN USER NKEY SEED----- x ------END USER NKEY SEED------", .noSeed
            ),
            (text.replacing("eyJ0", with: "."), .malformedJWT), (text.replacing(".c2ln", with: ""), .malformedJWT),
            (text.replacing("SUAA", with: "SUAB"), .seed(.wrongChecksum)),
            (NKeySample.credentials(seed: NKeySample.account), .seed(.notUser)),
            (NKeySample.credentials(of: NKeySample.accountPublic), .otherUser),
        ] {
            #expect(throws: failure) { try NATSCredentials(file: Secret(file)) }
            #expect(!"\(failure)".contains("SUA") && "\(failure)".contains(": "))
        }
    }
}
