import Testing
@testable import Measurements

@Suite("Finnhub's gaps in an audit")
struct AuditGapsTests {
    /// Trade 1 of both, then 2 to 5 of the venue's alone, a gap, and 6 and 7 of both; Finnhub goes on at 600 ms.
    private let cut = """
        1 v 0 900 99 1
        2 f 900 99 1
        10 v 1 1000 100 1
        20 f 1000 100 1
        110 v 2 1100 101 1
        210 v 3 1200 102 1
        310 v 4 1300 103 1
        410 v 5 1400 104 1
        510 v 6 1500 105 1
        590 gap f
        600 f 1500 105 1
        700 v 7 1600 106 1
        710 f 1600 106 1

        """

    @Test("are identified 10 s after they ended, once, with the ids that Finnhub has not sent")
    func identified() {
        #expect(AuditScript.identified(self.cut + "10599 look").isEmpty)
        #expect(
            AuditScript.identified(self.cut + "10600 look\n11600 look\n700000 look")
                == ["10600: 2-5 (-410...590 after -1)"]
        )
    }

    @Test("lack nothing that comes from Finnhub until then")
    func late() {
        let late = "5000 f 1200 102 1\n10600 look"
        #expect(AuditScript.identified(self.cut + late) == ["10600: 2-2 4-5 (-410...590 after -1)"])
        let all = """
            5000 f 1100 101 1
            5000 f 1200 102 1
            5000 f 1300 103 1
            5000 f 1400 104 1
            10600 look
            """
        #expect(AuditScript.identified(self.cut + all) == ["10600: nothing (-410...590 after -1)"])
    }

    @Test("lack as many of equal trades as Finnhub has not sent, and none of another time")
    func equal() {
        let found = AuditScript.identified(
            """
            1 v 0 900 99 1
            2 f 900 99 1
            10 v 1 1000 100 1
            11 v 2 1000 100 1
            12 v 3 1000 100 1
            20 f 1000 100 1
            21 f 1000 100 1
            110 v 4 1100 101 1
            510 v 5 1500 105 1
            511 v 6 1500 105 1
            590 gap f
            600 f 1500 105 1
            700 v 7 1600 106 1
            710 f 1600 106 1
            1700 v 8 2600 107 1
            1800 v 9 2700 108 1
            1810 f 2700 108 1
            10600 look
            130000 look
            """
        )
        // 8 is missing, but in no gap.
        #expect(found == ["10600: 3-4 6-6 (-410...590 after -1)"])
    }

    @Test("have the trades that Finnhub's last and first trades at their ends overtook")
    func overtaken() {
        let found = AuditScript.identified(
            """
            1 v 0 900 99 1
            2 f 900 99 1
            1010 v 1 2000 100 1
            1011 v 2 2010 100 1
            1020 f 2010 100 1
            1110 v 3 2100 101 1
            1190 gap f
            1200 v 4 2190 102 1
            1201 v 5 2200 103 1
            1210 f 2190 102 1
            2300 v 6 3300 104 1
            2310 f 3300 104 1
            11210 look
            """
        )
        #expect(found == ["11210: 1-1 3-3 5-5 (190...1190 after 1009)"])
    }

    @Test("wait for what the venue's own connection lacked, and name what it lacks for good")
    func venueHole() {
        let both = """
            1 v 0 900 99 1
            2 f 900 99 1
            10 v 1 1000 100 1
            20 f 1000 100 1
            590 gap f
            600 f 1500 105 1
            605 gap v 2 5
            610 v 6 1500 105 1
            700 v 7 1600 106 1
            710 f 1600 106 1
            11000 look
            12000 v+ 2 1100 101 1
            12000 v+ 3 1200 102 1

            """
        let filled = """
            12000 v+ 4 1300 103 1
            12000 v+ 5 1400 104 1
            12001 settled v 2 5
            12002 look
            """
        #expect(AuditScript.identified(both + filled) == ["12002: 2-5 (-410...590 after -1)"])
        let lost = "12001 settled v 2 5 4 5\n12002 look"
        let reason = "the exchange's own connection lacked them, too: too old"
        #expect(
            AuditScript.identified(both + lost) == ["12002: 2-3 lost 4-5: \(reason) (-410...590 after -1)"]
        )
    }

    @Test("lack no trade twice where two of them meet, and are one without a trade between")
    func two() {
        let again = """
            800 v 8 1700 107 1
            850 gap f
            860 gap f
            900 v 9 1800 108 1
            910 f 1800 108 1
            10600 look
            10900 v 10 1900 109 1
            10910 look
            """
        #expect(
            AuditScript.identified(self.cut + again) == [
                "10600: 2-5 (-410...590 after -1)", "10910: 8-8 (-150...860 after 599)",
            ]
        )
    }

    @Test("are left alone where the venue's trades of the time are not known")
    func unknown() {
        // In the millisecond of the venue's first trade there may have been others before it.
        let first = self.cut.split(separator: "\n").dropFirst(2).joined(separator: "\n")
        #expect(AuditScript.identified(first + "\n10600 look").isEmpty)
        // The venue's connection opened within the gap.
        let late = """
            1 f 900 99 1
            10 f 1000 100 1
            110 v 2 1100 101 1
            590 gap f
            600 f 1500 105 1
            610 v 6 1500 105 1
            700 v 7 1600 106 1
            10600 look
            """
        #expect(AuditScript.identified(late).isEmpty)
        // Its ids began anew there.
        let anew = """
            1 v 0 900 99 1
            2 f 900 99 1
            10 v 1 1000 100 1
            20 f 1000 100 1
            110 v 2 1100 101 1
            205 gap v
            210 v 500 1200 102 1
            590 gap f
            600 f 1500 105 1
            610 v 501 1500 105 1
            700 v 502 1600 106 1
            10600 look
            """
        #expect(AuditScript.identified(anew).isEmpty)
    }

    @Test("have all their ids, however long they are", arguments: [4, 65_536])
    func long(waiting: Int) {
        var limits = AuditLimits()
        (limits.trades, limits.remembered) = (waiting, 4)
        var lines = "1 v 0 900 99 1\n2 f 900 99 1\n10 v 1 1000 100 1\n20 f 1000 100 1\n"
        for id in 2...2_000 { lines += "\(id * 1_000) v \(id) \(id * 1_000) 100 1\n" }
        lines += """
            2001000 v 2001 2001000 100 1
            2001010 gap f
            2001020 f 2001000 100 1
            2002000 v 2002 2002000 100 1
            2002020 f 2002000 100 1
            2012000 look
            """
        #expect(AuditScript.identified(lines, limits: limits) == ["2012000: 2-2000 (2000010...2001010 after -1)"])
    }

    @Test("are none where the symbol was not subscribed")
    func absent() {
        #expect(AuditScript.identified(self.cut.replacing("gap f", with: "absent f") + "10600 look").isEmpty)
    }
}
