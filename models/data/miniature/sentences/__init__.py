"""What sentences show: phenomena, and the draws that fill them with words."""
