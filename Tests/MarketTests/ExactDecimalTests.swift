import Market
import Testing

@Suite struct ExactDecimalTests {
    @Test(
        "text in and text out are the same digits",
        arguments: [
            "0", "1", "-1", "26626", "61837.63", "0.00000095", "0.000004", "1000000", "123456789012345678",
            "0.123456789012345678", "-0.5", "10000000000000000000000",
        ]
    )
    func roundTrip(text: String) { #expect(ExactDecimal(text)?.description == text) }
}
